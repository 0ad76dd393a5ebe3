"""Facts about a real game's files, measured by readers that no file stops."""
