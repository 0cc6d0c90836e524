"""Open the device, compute on it, and print what came of it. Started by device.py.

Arguments: the name of the device, and the steps; none: only open it. Prints a JSON object in each
line that begins with MARK; the device's own libraries may print others.
"""

from __future__ import absolute_import, division, print_function

import json
import sys
import warnings

from verify.core import fixes
from verify.device import drivers

MARK = "verify-device "
# A graph of some 1700 nodes: two layers, in both directions, of so many steps.
LAYERS, STEPS = 2, 4
# One of some 19000 nodes, where the ways to move it differ most.
LARGE_LAYERS, LARGE_STEPS = 3, 30


def say(content):
    """Print one message; it must not wait in a buffer when the process dies."""
    sys.stdout.write("\n" + MARK + json.dumps(content) + "\n")
    sys.stdout.flush()


def main(words):
    """Open the device that the first word names, and do the steps that the others name."""
    asked, steps = words[0], words[1:]
    warnings.simplefilter("ignore")
    try:
        say({"opened": opened(asked)})
    except drivers.NoDeviceError as error:
        say({"missing": str(error), "fix": error.fix})
        return
    for name in steps:
        say({"begin": name})
        try:
            say({"end": name, "result": step(name)})
        except Exception as error:
            say({"end": name, "error": fixes.explain(error), "text": str(error)})


def opened(asked):
    """Return what the device is, once the framework has it. Raises NoDeviceError."""
    device = drivers.find(asked)
    import theano

    if not getattr(getattr(theano, "gpuarray", None), "pygpu_activated", False):
        raise drivers.NoDeviceError(
            "Theano could not open %s: %s" % (asked, _reason(asked)),
            "the device is there, but what Theano needs to use it is not: look at the reason",
        )
    if theano.config.device != asked:
        raise drivers.NoDeviceError(
            "Theano was asked for %s and took %s" % (asked, theano.config.device),
            "take `device` out of THEANO_FLAGS",
        )
    return device._asdict()


def _reason(asked):
    try:
        import pygpu

        pygpu.init(asked)
    except ImportError as error:
        return "%s; pygpu comes with the variants gpuarray and gpuarray-cuda" % error
    except Exception as error:
        return fixes.explain(error)
    return "its own message is above"


def step(name):
    """Do one step and return its result."""
    if name == "speed":
        from verify.device import speed as device_speed

        return device_speed.measure()
    if name == "optimiser":
        return optimise(LAYERS, STEPS, ("fast_run", "fast_compile"))
    if name == "large optimiser":
        return optimise(LARGE_LAYERS, LARGE_STEPS, ("fast_compile",), samples=1)
    from verify.device import cases as device_cases

    if name == "training step":
        return device_cases.training_step()
    if name == "left on the host":
        return device_cases.left_on_host()
    case = {case.name: case for case in device_cases.CASES}[name]
    if name == "scan":
        return _scan(case)
    return device_cases.compute(case)


def _scan(case):
    """Compute a scan with it on the device, and where that cannot be, as the settings have it."""
    import theano

    from verify.device import cases as device_cases

    try:
        return device_cases.compute(case, theano.compile.mode.Mode(optimizer="fast_run"))
    except TypeError as error:
        result = device_cases.compute(case)
        result["refused"] = str(error).splitlines()[0]
        return result


def optimise(layers, steps, tags, **samples):
    """Return how long each way to move a graph takes, by mode."""
    from verify.device import optimiser as device_optimiser

    sys.setrecursionlimit(100000)
    inputs, outputs = device_optimiser.stack(layers, steps)
    found = {"layers": layers, "steps": steps, "width": device_optimiser.WIDTH}
    for tag in tags:
        found[tag] = device_optimiser.run(inputs, outputs, tag, **samples)
    return found
