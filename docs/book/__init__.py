"""Makes the pages of the book, and holds the figures on them to what is recorded."""
