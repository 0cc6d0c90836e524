"""Programs that people really run, timed and profiled in the environment of this interpreter."""
