"""The project's own checks, schemas and CI jobs."""
