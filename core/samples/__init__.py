"""Stand-in game files from nothing, to try things on and to test with."""
