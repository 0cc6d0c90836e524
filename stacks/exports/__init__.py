"""A variant's lock in the forms that other tools read."""
