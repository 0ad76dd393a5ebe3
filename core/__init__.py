"""The collision data of Project Sylpheed. Needs numpy and nothing else."""
