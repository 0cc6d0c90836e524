"""A variant's lock in the forms that other tools read; one module for each form."""
