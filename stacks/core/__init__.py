"""What everything else stands on: errors, files, processes, the console."""
