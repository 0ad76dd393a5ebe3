"""Operators, panels, preferences and the command line of Blender."""
