"""The game folder and the mod folder beside it: archives, stages, versions of entries."""
