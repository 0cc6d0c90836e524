"""Images: what is in one, and the file that holds one."""
