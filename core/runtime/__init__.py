"""What the game itself does with the files: queries on a hull, the search for a way."""
