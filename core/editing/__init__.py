"""Edited geometry and its source to a new hull or collision set."""
