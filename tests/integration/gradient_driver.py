# Python 2.7 runs this too: no types, and nothing that ruff would modernise.
# mypy: ignore-errors
# ruff: noqa: RUF005, SIM105
"""Check the gradients of the neural Turing machine in the interpreter that runs this.

Arguments: the suite's folder, how many heads read, `fixed` or `as it is`. Prints {parameter:
[slope by the gradient, by finite differences]} along a random direction of each parameter, for a
small machine in float64.
"""

import importlib
import json
import os
import sys
import types

import numpy

STEP = 1e-5


def main(suite_folder, readers, how):
    """Compile cost and gradients without optimisations and without C, and compare."""
    sys.dont_write_bytecode = True
    _bring_back_private_names()
    package = types.ModuleType("verify")
    package.__path__ = [suite_folder]
    sys.modules["verify"] = package
    for name in ("THEANO_FLAGS", "PYTENSOR_FLAGS"):
        # The insides of scans are compiled by the default mode: it has to be as plain.
        os.environ[name] = "linker=py,optimizer=None"
    framework = importlib.import_module("verify.core.framework").load()
    if how == "fixed":
        importlib.import_module("theano_stacks_scan")
    ntm = importlib.import_module("verify.workloads.scans")
    ops = importlib.import_module("verify.workloads.ops").Ops(framework, "float64", False)
    if not ops.is_theano:
        # PyTensor compiles the insides of a scan to C whatever the flags say.
        linker = importlib.import_module("pytensor.link.vm").VMLinker(c_thunks=False)
        mode = framework.function_modes.Mode(linker, None)
        scan = ops.scan
        ops.scan = lambda step, name, **named: scan(step, name, mode=mode, **named)
    sizes = ntm.SMALL_NTM
    sizes.readers = readers
    parameters, cost = ntm.training_cost(ops, sizes)
    names = sorted(parameters)
    gradients = ops.tensor.grad(cost, [parameters[name] for name in names])
    function = framework.module.function([], [cost] + gradients)
    slopes = function()[1:]
    cost_alone = framework.module.function([], cost)
    random = numpy.random.RandomState(17)
    found = {}
    for number, name in enumerate(names):
        parameter = parameters[name]
        value = parameter.get_value()
        direction = random.randn(*value.shape)
        costs = []
        for side in (1, -1):
            parameter.set_value(value + side * STEP * direction)
            costs.append(float(cost_alone()))
        parameter.set_value(value)
        by_differences = (costs[0] - costs[1]) / (2 * STEP)
        found[name] = [float((slopes[number] * direction).sum()), by_differences]
    sys.stdout.write(json.dumps(found) + "\n")


def _bring_back_private_names():
    # Theano 1.0.5's convolution in Python wants names that SciPy 1.8 has moved.
    for name in ("signaltools", "sigtools"):
        try:
            sys.modules["scipy.signal." + name] = importlib.import_module("scipy.signal._" + name)
        except ImportError:
            pass


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
