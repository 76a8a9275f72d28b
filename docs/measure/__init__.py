"""Records results, keeps them and finds figures in them."""
