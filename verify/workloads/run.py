"""Compile a workload's cases, call them in turn, and write the report."""

from __future__ import absolute_import, division, print_function

import os
import sys
import warnings

from verify.checks import versions
from verify.context import Context
from verify.core import framework as frameworks
from verify.core import graph, profiles, progress, report
from verify.core.portable import monotonic
from verify.workloads import devices, networks, scans
from verify.workloads.ops import Ops

SCHEMA = 2
# Those of rounds.PROGRAMS: each takes the Ops and whether shapes are small, and returns its Models.
WORKLOADS = {
    "check_blas": networks.check_blas,
    "gibbs": scans.gibbs,
    "lenet": networks.lenet,
    "logreg": networks.logreg,
    "lstm": networks.lstm,
    "mlp": networks.mlp,
    "ntm": scans.ntm,
    "scan_gc": scans.scan_gc,
    "scan_outside": scans.scan_outside,
}


class WorkloadRun(object):
    """A workload's cases, compiled and called once, and the seconds of their timed calls.

    arguments: as cli.parse returns them; device: of the report, where the framework has opened one,
    or JAX. Raises FrameworkError for an unknown case.
    """

    def __init__(self, framework, expectation, arguments, device=None):
        self._device = device
        self._framework, self._expectation, self._arguments = framework, expectation, arguments
        self._profiled = (
            arguments.profile_calls > 0 and arguments.linker not in frameworks.WHOLE_GRAPH
        )
        default = "float64" if arguments.workload == "check_blas" else "float32"
        self._dtype = arguments.dtype or default
        # On a device the profiled functions are other ones than the timed ones.
        profiled, is_jax = self._profiled and not device, arguments.linker == frameworks.JAX
        models = self._models(Ops(framework, self._dtype, profiled, static=is_jax))
        self._cases = [
            _CompiledCase(framework, model, arguments.linker, self._profiled) for model in models
        ]
        if is_jax:
            for case in self._cases:
                devices.place_on_jax(case.function)
        if device:
            self._synchronise()
        # They would be printed when the program ends.
        del framework.profiling._atexit_print_list[:]
        for case in self._cases:
            case.call_first()

    def _models(self, ops):
        models = WORKLOADS[self._arguments.workload](ops, self._arguments.small)
        if self._arguments.case is None:
            return models
        requested, names = self._arguments.case.split(","), [model.name for model in models]
        for name in requested:
            if name not in names:
                fix = "take one of: " + ", ".join(names)
                raise frameworks.FrameworkError("there is no case %s" % name, fix)
        return [model for model in models if model.name in requested]

    def _synchronise(self):
        """Make timed calls wait for the device, and compile functions that wait at each node."""
        for case in self._cases:
            case.is_on_device = True
        if not self._profiled:
            return
        warnings.filterwarnings("ignore", "You are running the Theano profiler with CUDA enabled")
        ops = Ops(self._framework, self._dtype, True, devices.LINKER)
        for case, model in zip(self._cases, self._models(ops)):
            case.profiled = _CompiledCase(self._framework, model, devices.LINKER, True).function
            devices.at_each_node(case.profiled)
            # The first call compiles kernels.
            case.profiled()
            profiles.forget_calls(case.profiled)
            if graph.describe(case.profiled) != graph.describe(case.function):
                sys.stderr.write("%s: the profiled graph differs\n" % model.name)

    def compiled(self):
        """Return name, graph and compilation of the cases, as in the report."""
        return [
            {
                "name": case.model.name,
                "graph": {"signature": graph.describe(case.function)["signature"]},
                "compile": {"seconds": case.compile_seconds, "modules": case.modules},
            }
            for case in self._cases
        ]

    def call(self, calls):
        """Return {case: seconds of each call}; the cases take turns, so that they compare."""
        seconds = [[] for _ in self._cases]
        for number in range(calls):
            progress.note("call %d of %d" % (number + 1, calls))
            for case, samples in zip(self._cases, seconds):
                samples.append(case.timed_call()[0])
        progress.end()
        for case, samples in zip(self._cases, seconds):
            case.seconds += samples
        return {case.model.name: samples for case, samples in zip(self._cases, seconds)}

    def report(self):
        """Make the profiled calls; return the report of report.schema.json."""
        framework, expectation, arguments = self._framework, self._expectation, self._arguments
        flags = os.environ.get(framework.flags_variable, "")
        context = Context(framework, expectation, None, flags)
        profile_calls = arguments.profile_calls if self._profiled else 0
        content = {
            "schema": SCHEMA,
            "workload": arguments.workload,
            "small": arguments.small,
            "fixed_scan": "theano_stacks_scan" in sys.modules,
            "dtype": self._dtype,
            "grad_seconds": framework.grad_seconds,
            "linker": arguments.linker or framework.linker,
            "device": self._device,
            "cases": [case.report(profile_calls) for case in self._cases],
        }
        return report.private(dict(content, **versions.described(context, {})))


class _CompiledCase(object):
    """A model's compiled function, and what its compilation and its calls took."""

    def __init__(self, framework, model, linker, is_profiled):
        progress.note("compiling %s" % model.name)
        modules, shared = _modules(framework), _shared_modules()
        start = monotonic()
        outputs = [] if model.output is None else model.output
        self.model = model
        with framework.collecting(model.allow_gc):
            self.function = framework.function(
                [], outputs, model.updates, is_profiled, linker, model.excluding
            )
        self.compile_seconds = monotonic() - start
        self.modules = _modules(framework) - modules
        self.shared = _shared_modules() - shared
        # On a device the calls of another function are profiled than are timed.
        self.profiled, self.is_on_device = self.function, False
        self.first_call, self.output, self.seconds = None, None, []

    def call_first(self):
        """Set first_call and output; the output is compared between environments."""
        self.first_call, value = self.timed_call()
        self.output = None if self.model.output is None else float(value)
        profiles.forget_calls(self.function)

    def timed_call(self):
        """Return (seconds, output) of a call without a profile."""
        with profiles.switched_off(self.function):
            start = monotonic()
            value = self.function()
            if self.is_on_device:
                devices.for_results(self.function, value)
            return monotonic() - start, value

    def _memory(self):
        """Call once more; return the bytes that the call takes, and those that stay."""
        with profiles.switched_off(self.function):
            most = graph.peak_of_call(self.function)
        return {"peak": most, "kept": graph.kept_bytes(self.function)}

    def report(self, profile_calls):
        """Make the profiled calls; return the case as the report has it."""
        content = {
            "name": self.model.name,
            "shape": self.model.shape,
            "slow": self.model.slow,
            "flops": self.model.flops,
            "seconds": self.seconds,
            "first_call": self.first_call,
            "output": self.output,
            "graph": graph.describe(self.function),
            "compile": {
                "seconds": self.compile_seconds,
                "modules": self.modules,
                "shared": self.shared,
            },
            "memory": None if self.is_on_device else self._memory(),
            "profile": None,
        }
        nodes = self.function.maker.fgraph.toposort()
        if any(graph.is_on_device(node) for node in nodes):
            content["places"] = dict(graph.places(nodes)._asdict())
        if self.function.profile:
            content["compile"].update(profiles.compile_times_of(self.function.profile))
        if profile_calls:
            for number in range(profile_calls):
                words = (self.model.name, number + 1, profile_calls)
                progress.note("profiling %s, call %d of %d" % words)
                self.profiled()
            content["profile"] = profiles.of_function(self.profiled)
            progress.end()
        return content


def _modules(framework):
    """Return the number of compiled modules in the compile folder."""
    try:
        return len(os.listdir(str(framework.flag("compiledir"))))
    except OSError:
        return 0


def _shared_modules():
    """Return the number of modules that came from the folder that environments share."""
    module = sys.modules.get("theano_stacks_modules")
    return module.found["hits"] if module else 0
