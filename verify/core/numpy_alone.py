"""NumPy without a framework, as far as the checks of its BLAS library need one."""

from __future__ import absolute_import, division, print_function

import importlib


class NumPyAlone(object):
    """Stands for a LoadedFramework: NumPy computes, and no code is compiled but the suite's own."""

    name = "numpy"
    runs_numba = False

    def __init__(self):
        self.module = importlib.import_module(self.name)
        self.version = self.module.__version__

    def flag(self, name):
        """Return the compiler of the suite's own code; every other flag is unknown."""
        return "g++" if name == "cxx" else None
