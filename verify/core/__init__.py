"""What every check needs: the framework, the machine, the report, and other processes."""
