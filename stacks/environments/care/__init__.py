"""Care for environments: verify, list and remove them, and what killed processes leave."""
