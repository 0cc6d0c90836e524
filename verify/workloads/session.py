"""Compile a workload's cases, call them in turn, and put what was found into a report."""

from __future__ import absolute_import, division, print_function

import importlib
import os
import platform
import sys
import warnings

from verify.blas.speed import clock
from verify.checks import settings, versions
from verify.context import Context
from verify.core import machine, progress, report
from verify.device import graph as device_graph
from verify.workloads import device_timing, graph, profiles
from verify.workloads.ops import Ops

SCHEMA = 1


class UnknownCaseError(EnvironmentError):
    """The workload has no case of that name."""


class Session(object):
    """A workload's cases, compiled and called once; to be called as often as is wanted.

    device: what is told of the device that the framework has opened, or None.
    """

    def __init__(self, framework, expectation, arguments, device=None):
        self._device = device
        self._framework, self._expectation, self._arguments = framework, expectation, arguments
        self._profiled = arguments.profile_calls > 0 and arguments.linker != "numba"
        default = "float64" if arguments.workload == "check_blas" else "float32"
        self._dtype = arguments.dtype or default
        # On a device other functions than those that are timed have the profiles.
        models = self._models(Ops(framework, self._dtype, self._profiled and not device))
        self._cases = [self._compiled(model) for model in models]
        if device:
            self._wait_for_device()
        profiles.silence(framework)
        self._seconds = [[] for _ in self._cases]
        for one in self._cases:
            _call_first(one)

    def _models(self, ops):
        workload = importlib.import_module("verify.workloads." + self._arguments.workload)
        models = workload.models(ops, self._arguments.small)
        chosen = [model for model in models if self._arguments.case in (None, model.name)]
        if not chosen:
            known = ", ".join(model.name for model in models)
            raise UnknownCaseError(22, "no case %s; there are: %s" % (self._arguments.case, known))
        return chosen

    def _compiled(self, model):
        return _compile(self._framework, model, self._arguments.linker, self._profiled)

    def _wait_for_device(self):
        """Have timed calls wait at their end, and compile functions whose nodes all wait."""
        for one in self._cases:
            one.finish = device_timing.for_updates
        if not self._profiled:
            return
        warnings.filterwarnings("ignore", "You are running the Theano profiler with CUDA enabled")
        ops = Ops(self._framework, self._dtype, True, device_timing.LINKER)
        for one, model in zip(self._cases, self._models(ops)):
            one.profiled = _compile(self._framework, model, device_timing.LINKER, True).function
            device_timing.at_each_node(one.profiled)
            # Kernels are compiled in the first call.
            one.profiled()
            profiles.forget_calls(one.profiled)
            if graph.describe(one.profiled) != graph.describe(one.function):
                sys.stderr.write("%s: the graph of the profile is another one\n" % one.model.name)

    def compiled(self):
        """Return what is known of each case before it is timed."""
        return [
            {
                "name": one.model.name,
                "graph": graph.describe(one.function)["signature"],
                "compile": one.compile_seconds,
                "modules": one.modules,
                "first_call": one.first,
            }
            for one in self._cases
        ]

    def call(self, calls):
        """Return {case: seconds of each call}; the cases take turns, so that they compare."""
        seconds = _call(self._cases, calls)
        for known, new in zip(self._seconds, seconds):
            known += new
        return {one.model.name: new for one, new in zip(self._cases, seconds)}

    def report(self):
        """Return the report, as docs/profiling.md describes it, after some calls with a profile."""
        framework, expectation, arguments = self._framework, self._expectation, self._arguments
        flags = os.environ.get(framework.flags_variable, "")
        context = Context(framework, expectation, None, flags)
        profiled = arguments.profile_calls if self._profiled else 0
        return report.private(
            {
                "schema": SCHEMA,
                "workload": arguments.workload,
                "small": arguments.small,
                "fixed_scan": arguments.fix_scan,
                "dtype": self._dtype,
                "linker": arguments.linker or framework.linker,
                "variant": expectation["variant"] if expectation else None,
                "framework": {
                    "name": (expectation or {}).get("framework")
                    or "%s-%s" % (framework.name, framework.version),
                    "module": framework.name,
                    "version": framework.version,
                    "python": platform.python_version(),
                },
                "machine": machine.describe({}),
                "device": self._device,
                "settings": settings.in_force(context),
                "packages": versions.packages(context),
                "cases": [
                    _case(one, samples, profiled)
                    for one, samples in zip(self._cases, self._seconds)
                ],
            }
        )


def _nothing(function):
    pass


class _Compiled(object):
    def __init__(self, model, function, seconds, modules, shared):
        self.model, self.function = model, function
        self.compile_seconds, self.modules, self.shared = seconds, modules, shared
        # What is called before the clock is stopped, and the function whose calls are profiled.
        self.finish, self.profiled = _nothing, function
        self.first = None
        self.output = None


def _compile(framework, model, linker, profiled):
    progress.note("compiling %s" % model.name)
    before, found = _modules(framework), _shared()
    start = clock()
    outputs = [] if model.output is None else model.output
    function = framework.function([], outputs, model.updates, profiled, linker)
    seconds = clock() - start
    return _Compiled(model, function, seconds, _modules(framework) - before, _shared() - found)


def _modules(framework):
    """Return how many compiled modules the compile folder holds."""
    try:
        return len(os.listdir(str(framework.flag("compiledir"))))
    except OSError:
        return 0


def _shared():
    """Return how many modules were taken from a folder that environments share."""
    module = sys.modules.get("theano_stacks_modules")
    return module.found["hits"] if module else 0


def _call_first(one):
    with profiles.switched_off(one.function):
        start = clock()
        value = one.function()
        one.finish(one.function)
        one.first = clock() - start
    # What a call returns is compared between environments; an update has no output.
    one.output = None if one.model.output is None else float(value)
    profiles.forget_calls(one.function)


def _call(compiled, calls):
    seconds = [[] for _ in compiled]
    for number in range(calls):
        progress.note("call %d of %d" % (number + 1, calls))
        for one, samples in zip(compiled, seconds):
            with profiles.switched_off(one.function):
                start = clock()
                one.function()
                one.finish(one.function)
                samples.append(clock() - start)
    progress.end()
    return seconds


def _case(one, samples, profile_calls):
    found = {
        "name": one.model.name,
        "shape": one.model.shape,
        "flops": one.model.flops,
        "seconds": samples,
        "first_call": one.first,
        "output": one.output,
        "graph": graph.describe(one.function),
        "compile": {"seconds": one.compile_seconds, "modules": one.modules, "shared": one.shared},
        "profile": None,
    }
    nodes = graph.graph_of(one.function).toposort()
    if any(device_graph.is_on_device(node) for node in nodes):
        found["places"] = dict(device_graph.places(nodes)._asdict())
    if one.function.profile:
        found["compile"].update(profiles.compile_times(one.function))
    if profile_calls:
        progress.note("profiling %s" % one.model.name)
        for _ in range(profile_calls):
            one.profiled()
        found["profile"] = profiles.of_function(one.profiled)
        progress.end()
    return found
