"""The project's own conda channel: recipes, packages, solving."""
