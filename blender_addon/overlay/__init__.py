"""What is drawn into the 3D views."""
