"""Files on the disk: read whole, replaced in one step, written by one program at a time."""
