"""The state that every check reads, and the results that checks leave for later ones."""

from __future__ import absolute_import, division, print_function

import os
import shutil

from verify.core import process, trial

_UNTRIED = object()


class Context(object):
    """One verification of one environment.

    framework: the LoadedFramework.
    expectation: the content of the builder's expectation file, or None in a diagnosis.
    folder: where temporary files go.
    user_flags: the framework's flags variable as the user has set it, before the suite adds to it.
    full: whether to run the long timings.
    requested_device: the device that the environment or its user requests, or None for the host.

    modules: the folder of compiled modules to share once the compiler works, or None.
    verified: the folder of what the environment's verification has compiled before, or None.

    Left by checks for later ones:

    operations: {(name, dtype): CompiledOperation}.
    elementwise: {(name, dtype): compiled function}.
    products: {key: exact product}, for the check of numbers.
    serving: the Library that computes matrix products.
    second_blas_fix: how to have one BLAS library in the process, or None where there is one.
    peaks: {dtype: {threads: GFLOP/s}}.
    peak_kernel: the loaded library that measures a peak, or None.
    gemm: {dtype: [GFLOP/s]}.
    shares: {dtype: [share of the peak in each pair]}.
    reasons: {dtype: [what was seen that took time from the products]}.
    alone: {dtype: GFLOP/s of one thread}.
    advice: sentences for the summary: what is no fault of the environment, but slow.
    device: the report's description of the device; device_missing where there is none.
    """

    def __init__(
        self, framework, expectation, folder, user_flags, full=False, requested_device=None
    ):
        self.framework = framework
        self.expectation = expectation
        self.folder = folder
        self.user_flags = user_flags
        self.full = full
        self.requested_device = requested_device
        self.modules = None
        self.verified = None
        self.device = None
        self.device_missing = False
        self.operations = {}
        self.elementwise = {}
        self.products = {}
        self.serving = None
        self.second_blas_fix = None
        self.peaks = {}
        self.peak_kernel = None
        self.gemm = {}
        self.shares = {}
        self.reasons = {}
        self.alone = {}
        self.advice = []
        self._culprit = _UNTRIED

    def compile_folder(self, name):
        """Return a new copy of the compile folder, for a process that runs beside this one.

        Processes that share one wait for each other, Theano's for five seconds or more.
        """
        copy = os.path.join(self.folder, name)
        # Theano keeps its lock after some errors; the copy would wait for it, for two minutes.
        ignored = shutil.ignore_patterns("lock_dir")
        folder = str(self.framework.flag("base_compiledir"))
        if not os.path.isdir(folder):
            # Nothing is compiled yet.
            os.mkdir(copy)
            return copy
        shutil.copytree(folder, copy, symlinks=True, ignore=ignored)
        return copy

    def start(self, program, name, *more, **options):
        """Start one of the suite's programs beside this process; return the process.Started.

        It gets the framework's module, a copy of the compile folder of this name, and more
        arguments. environ: its variables; by default those of this process.
        """
        words = (self.framework.name, self.compile_folder(name)) + more
        return process.Started(
            process.suite_command(program, *words),
            os.path.join(self.folder, name + ".txt"),
            options.get("environ"),
        )

    @property
    def culprit(self):
        """The variable or setting without which a small function compiles, as trial.culprit has it.

        None if there is none. It is looked for once, since that takes seconds.
        """
        if self._culprit is _UNTRIED:
            name = self.framework.name
            program = trial.program_that_compiles(name)
            self._culprit = trial.culprit(program, name, self.folder, self.user_flags)
        return self._culprit

    @property
    def is_baseline(self):
        """Whether the slow path is the expected one."""
        return bool(self.expectation and self.expectation["baseline"])

    @property
    def has_ldflags(self):
        """Whether the framework links its own code against a BLAS."""
        return bool(str(self.framework.flag("blas.ldflags") or "").strip())
