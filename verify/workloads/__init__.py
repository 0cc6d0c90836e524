"""Programs that people really run, timed and profiled in the environment that runs this."""
