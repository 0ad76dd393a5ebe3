"""Meshes, grids and rock as arrays. Numpy only: nothing here knows a file format."""
