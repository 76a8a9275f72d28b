"""Makes the pages of the book, and checks the figures on them against the recorded values."""
