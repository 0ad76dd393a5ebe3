"""Navigation volumes from hulls: free space as tetrahedra, built from nothing or patched after an edit."""
