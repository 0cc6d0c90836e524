"""The base of all other packages: errors, files, processes, the console, the log."""
