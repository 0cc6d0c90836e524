"""The builder: recipe -> channel -> lock -> prefix -> verify -> report."""
