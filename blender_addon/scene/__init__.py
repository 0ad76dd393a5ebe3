"""Files to objects and back."""
