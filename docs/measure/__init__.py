"""Records results, stores them and finds figures in them."""
