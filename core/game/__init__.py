"""Game folders: archives, stages, the mod folder beside them, versions of entries."""
