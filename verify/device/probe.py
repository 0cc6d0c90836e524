"""Open the device, run steps on it, and print messages. Started by check.py.

Arguments: the name of the device, and the steps, which may be none. A message is a line with MARK
and a JSON object; the device's libraries may print other lines.
"""

from __future__ import absolute_import, division, print_function

import json
import sys
import warnings

from verify.core import fixes
from verify.device import cuda, opencl
from verify.device.description import NoDeviceError

MARK = "verify-device "
# A graph of about 1700 nodes.
LAYERS, STEPS = 2, 4
# A graph of about 19000 nodes, on which the ways to move it differ most.
LARGE_LAYERS, LARGE_STEPS = 3, 30


def send(message):
    """Print a message, and flush it, as the process may die at any time."""
    sys.stdout.write("\n" + MARK + json.dumps(message) + "\n")
    sys.stdout.flush()


def main(argv):
    """Open the device, the first argument, and run the steps, the others."""
    name, steps = argv[0], argv[1:]
    warnings.simplefilter("ignore")
    try:
        send({"opened": opened(name)})
    except NoDeviceError as error:
        send({"missing": str(error), "fix": error.fix})
        return
    for name in steps:
        send({"begin": name})
        try:
            send({"end": name, "result": step(name)})
        except Exception as error:
            send({"end": name, "error": fixes.explain(error), "text": str(error)})


def opened(name):
    """Let Theano open a device; return its Device as a dictionary. Raises NoDeviceError."""
    device = find(name)
    try:
        import theano
    except RuntimeError as error:
        # The environment's _theano_stacks_device.py ends an import that opens no device.
        if "cannot compute on the device" not in str(error):
            raise
        theano = None
    if not getattr(getattr(theano, "gpuarray", None), "pygpu_activated", False):
        raise NoDeviceError(
            "Theano could not open %s: %s" % (name, _reason(name)),
            "the device exists, but Theano cannot use it: see the reason, and whether other "
            "programs hold its memory (`nvidia-smi`)",
        )
    if theano.config.device != name:
        raise NoDeviceError(
            "Theano opened %s instead of %s" % (theano.config.device, name),
            "remove `device` from THEANO_FLAGS",
        )
    if name == "cuda":
        device = find("cuda%d" % cuda.number_opened())
    return device._asdict()


def _reason(name):
    try:
        import pygpu

        pygpu.init(name)
    except ImportError as error:
        return "%s; pygpu comes with the variants gpuarray and gpuarray-cuda" % error
    except Exception as error:
        return fixes.explain(error)
    return "see Theano's own message above"


def step(name):
    """Run the step of a name of check.STEPS or FULL_STEPS and return its result."""
    if name in ("speed", "products"):
        from verify.device import speed as device_speed

        return device_speed.measure() if name == "speed" else device_speed.products()
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
    """Compute a scan on the device, or else, with the reason as `refused`, by the settings."""
    import theano

    from verify.device import cases as device_cases

    try:
        return device_cases.compute(case, theano.compile.mode.Mode(optimizer="fast_run"))
    except TypeError as error:
        result = device_cases.compute(case)
        result["refused"] = str(error).splitlines()[0]
        return result


def optimise(layers, steps, tags, **samples):
    """Return {mode: result of optimiser.run}, with the sizes of the network."""
    from verify.device import optimiser as device_optimiser

    sys.setrecursionlimit(100000)
    inputs, outputs = device_optimiser.stack(layers, steps)
    results = {"layers": layers, "steps": steps, "width": device_optimiser.WIDTH}
    for tag in tags:
        results[tag] = device_optimiser.run(inputs, outputs, tag, **samples)
    return results


def find(name):
    """Return the Device of a value of Theano's flag `device`. Raises NoDeviceError."""
    is_opencl = name.startswith("opencl")
    devices = opencl.devices() if is_opencl else cuda.devices()
    # `cuda` stands for the first one.
    where = "cuda0" if name == "cuda" else name
    for device in devices:
        if device.where == where:
            if not is_opencl:
                cuda.check_capability(device)
            return device
    available = ", ".join("%s (%s)" % (device.where, device.name) for device in devices)
    raise NoDeviceError(
        "there is no device %s; there is: %s" % (name, available),
        "use an available one: THEANO_FLAGS=device=%s" % devices[0].where,
    )
