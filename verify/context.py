"""What every check may look at, and the functions that several of them share."""

from __future__ import absolute_import, division, print_function


class Context(object):
    """One verification of one environment.

    expectation: the builder's expectation file as a dictionary, or None in a diagnosis.
    given_flags: the framework's flags variable as the user has set it, before the suite added
    its own compile folder.

    asked_device: the device that the environment or its user wants, or None for the host alone.

    What the checks leave for one another: `operations` {(name, dtype): Compiled}, `serving` the
    Library found, `peaks` {dtype: {threads: GFLOP/s}}, `gemm` {dtype: [GFLOP/s]}, and `alone`
    {dtype: GFLOP/s of one thread}; `device` what device.py found, `device_missing` where it is not
    there.
    """

    def __init__(self, framework, expectation, folder, given_flags, full=False, asked_device=None):
        self.framework = framework
        self.expectation = expectation
        self.folder = folder
        self.given_flags = given_flags
        self.full = full
        self.asked_device = asked_device
        self.device = None
        self.device_missing = False
        self.operations = {}
        self.serving = None
        self.peaks = {}
        self.gemm = {}
        self.alone = {}

    @property
    def is_baseline(self):
        """Say whether the slow path is what is expected."""
        return bool(self.expectation and self.expectation["baseline"])

    @property
    def has_ldflags(self):
        """Say whether the framework links its own code against a BLAS."""
        return bool(str(self.framework.flag("blas.ldflags") or "").strip())
