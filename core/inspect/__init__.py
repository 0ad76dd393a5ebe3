"""What is in a file, what is wrong with it, and what differs between two."""
