"""What is wrong in the scene, by object and element."""
