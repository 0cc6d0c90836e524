"""What every check and probe stands on: processes, reports, the framework."""
