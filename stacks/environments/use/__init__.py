"""Use an environment: programs, jobs, shells, Jupyter kernels, a server of the channel."""
