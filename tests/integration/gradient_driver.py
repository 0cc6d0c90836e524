"""Check the gradients of the neural Turing machine in the interpreter that runs this.

Argument: the suite's folder. Prints {parameter: [slope by the gradient, by finite differences]}
along a random direction of each parameter, for a small machine in float64.
"""

import contextlib
import importlib
import json
import os
import sys
import types
from typing import Any

import numpy  # type: ignore[import-not-found]

STEP = 1e-5


def main(suite_folder: str) -> None:
    """Compile cost and gradients without optimisations and without C, and compare."""
    sys.dont_write_bytecode = True
    _bring_back_private_names()
    package: Any = types.ModuleType("verify")
    package.__path__ = [suite_folder]
    sys.modules["verify"] = package
    for name in ("THEANO_FLAGS", "PYTENSOR_FLAGS"):
        # The insides of scans are compiled by the default mode: it has to be as plain.
        os.environ[name] = "linker=py,optimizer=None"
    framework = importlib.import_module("verify.framework").load()
    ntm = importlib.import_module("verify.workloads.ntm")
    ops = importlib.import_module("verify.workloads.ops").Ops(framework, "float64", False)
    parameters, cost = ntm.training_cost(ops, ntm.SMALL)
    names = sorted(parameters)
    gradients = ops.grad(cost, [parameters[name] for name in names])
    function = framework.module.function([], [cost, *gradients])
    cost_alone = framework.module.function([], cost)
    slopes = function()[1:]
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


def _bring_back_private_names() -> None:
    # Theano 1.0.5's convolution in Python wants names that SciPy 1.8 has moved.
    for name in ("signaltools", "sigtools"):
        with contextlib.suppress(ImportError):
            sys.modules["scipy.signal." + name] = importlib.import_module("scipy.signal._" + name)


if __name__ == "__main__":
    main(sys.argv[1])
