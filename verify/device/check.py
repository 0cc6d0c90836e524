"""Check that the environment's device is available, and that the framework computes on it.

The framework opens a device when it is imported, keeps it, and runs on the host where that fails.
So the suite itself runs with device=cpu, and a process of its own does all work on the
device: it may hang or die without harm to the other checks. It is this module's program. Arguments:
the name of the device, and the steps, which may be none. A message is a line with MARK and a JSON
object; the device's libraries may print other lines.
"""

from __future__ import absolute_import, division, print_function

import json
import os
import sys
import warnings

from verify.core import configuration, fixes, process, progress
from verify.core.configuration import compile_flags
from verify.core.framework import FrameworkError
from verify.core.portable import monotonic
from verify.core.report import passed, skipped, timing
from verify.device import drivers
from verify.device import report as device_report

NAME = "device"
KINDS = ("opencl", "cuda")
# Limits in seconds. Opening takes seconds; a step compiles C++ and kernels, which takes half a
# minute on a slow machine.
OPENING, STEP = 60, 240
STEPS = device_report.COMPUTED + ("left on the host", "speed", "optimiser")
FULL_STEPS = ("products", "large optimiser")
MARK = "verify-device "
# Layers, steps, modes and samples, of graphs of about 1700 nodes, and of about 19000, on which the
# ways to move them differ most.
NETWORKS = {
    "optimiser": (2, 4, ("fast_run", "fast_compile"), 2),
    "large optimiser": (3, 30, ("fast_compile",), 1),
}


def requested(expectation, user_flags):
    """Return the device of the user's flags, or else of the environment; None for the host.

    user_flags: the text of THEANO_FLAGS; only Theano has a device. One of another kind than the
    environment's, or `cpu` in its place, fails the check of the settings, and is not used here.
    """
    if expectation:
        device = configuration.flags_of(user_flags).get("device")
        default = str(expectation["flags"].get("device", "cpu"))
        if not default.startswith(KINDS):
            return None
        return str(device) if device and _kind(device) == _kind(default) else default
    values = [value for _, value in configuration.sources("theano", user_flags, "device")]
    return str(values[0]) if values and values[0].startswith(KINDS) else None


def _kind(name):
    return next((kind for kind in KINDS if name.startswith(kind)), name)


def check(context):
    """Check that the framework opens the device; set context.device or context.device_missing."""
    messages = []
    done = _run(context, (), OPENING, messages.append)
    message = messages[0] if messages else {}
    if "opened" in message:
        context.device = message["opened"]
        words = (context.requested_device, context.device["name"], context.device["driver"])
        return passed(NAME, "%s: %s (%s)" % words)
    context.device_missing = True
    if "missing" in message:
        return skipped(NAME, "%s: %s" % (message["missing"], message["fix"]))
    return skipped(
        NAME,
        "%s: to see the error, run: THEANO_FLAGS=device=%s %s -c 'import theano'"
        % (_end(done, OPENING), context.requested_device, sys.executable),
    )


def measure(context):
    """Run every step on the device; return ([Check], [Timing]), and add to context.device."""
    start, results, begun = monotonic(), {}, []

    def receive(message):
        if "begin" in message:
            begun.append(message["begin"])
            progress.note("on the device: %s" % message["begin"])
        elif "end" in message:
            results[message["end"]] = message

    steps = STEPS + FULL_STEPS if context.full else STEPS
    while len(results) < len(steps):
        pending = [name for name in steps if name not in results]
        done = _run(context, pending, STEP, receive)
        # A step that killed the process is not tried again, nor is the first if none began.
        broken = begun[-1] if begun and begun[-1] in pending else pending[0]
        if broken not in results:
            results[broken] = {"error": _end(done, STEP), "text": ""}
    checks, timings = device_report.checks_and_timings(context, results)
    return checks, timings + [timing("device: all of it", "s", [monotonic() - start])]


def _run(context, steps, seconds, receive):
    """Run the probe, with `receive` for its messages; return its Done with its last other line."""
    others = [""]

    def parse(line):
        if line.startswith(MARK):
            receive(json.loads(line[len(MARK) :]))
        elif line.strip():
            others.append(line.strip())

    words = process.suite_command("device-probe", context.requested_device, *steps)
    done = process.follow(words, seconds, _variables(context), parse)
    return done._replace(output=others[-1])


def _variables(context):
    """Return the environment variables of the probe.

    It compiles into the environment's own folder, as a user's program does, and the next
    verification reuses the kernels; in a diagnosis, into the suite's temporary folder.
    """
    folder = (context.expectation or {"flags": {}})["flags"].get("base_compiledir")
    if not folder or not os.access(folder, os.W_OK):
        folder = os.path.join(context.folder, "compiled")
    flags = ["device=" + context.requested_device, compile_flags("theano", folder)]
    flags = ",".join(filter(None, [context.user_flags] + flags))
    kernels = os.environ.get("POCL_CACHE_DIR", os.path.join(context.folder, "kernels"))
    return dict(os.environ, THEANO_FLAGS=flags, POCL_CACHE_DIR=kernels)


def _end(done, seconds):
    if done.timed_out:
        return "it did not answer within %d s" % seconds
    output = ": " + done.output if done.output else ""
    return "its process ended with status %s%s" % (done.status, output)


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
    except FrameworkError as error:
        send({"missing": str(error), "fix": error.fix})
        return
    for name in steps:
        send({"begin": name})
        try:
            send({"end": name, "result": step(name)})
        except Exception as error:
            send({"end": name, "error": fixes.explain(error), "text": str(error)})


def opened(name):
    """Let Theano open a device; return its Device as a dictionary. Raises FrameworkError."""
    device = find(name)
    try:
        import theano
    except RuntimeError as error:
        # The environment's _theano_stacks_device.py ends an import that opens no device.
        if "cannot compute on the device" not in str(error):
            raise
        theano = None
    if not getattr(getattr(theano, "gpuarray", None), "pygpu_activated", False):
        raise FrameworkError(
            "Theano could not open %s: %s" % (name, _reason_of(name)),
            "the device exists: see whether other programs hold its memory (`nvidia-smi`)",
        )
    if theano.config.device != name:
        raise FrameworkError(
            "Theano opened %s instead of %s" % (theano.config.device, name),
            "remove `device` from THEANO_FLAGS",
        )
    if name == "cuda":
        device = find("cuda%d" % drivers.cuda_number_opened())
    return device._asdict()


def _reason_of(name):
    try:
        import pygpu

        pygpu.init(name)
    except ImportError as error:
        return "%s; pygpu comes with the variants gpuarray and gpuarray-cuda" % error
    except Exception as error:
        return fixes.explain(error)
    return "pygpu opens it"


def step(name):
    """Run the step of a name of check.STEPS or FULL_STEPS and return its result."""
    if name in ("speed", "products"):
        from verify.device import speed as device_speed

        return device_speed.measure() if name == "speed" else device_speed.products()
    if name in NETWORKS:
        from verify.device import optimiser as device_optimiser

        return device_optimiser.compare(*NETWORKS[name])
    import theano

    from verify.device import cases

    if name == "training step":
        return cases.training_step()
    if name == "left on the host":
        return cases.left_on_host()
    case = {case.name: case for case in cases.CASES}[name]
    if name != "scan":
        return cases.compute(case)
    try:
        return cases.compute(case, theano.compile.mode.Mode(optimizer="fast_run"))
    except TypeError as error:
        # By the settings, then, which leave it on the host.
        return dict(cases.compute(case), refused=str(error).splitlines()[0])


def find(name):
    """Return the Device of a value of Theano's flag `device`. Raises FrameworkError."""
    is_opencl = name.startswith("opencl")
    devices = drivers.opencl_devices() if is_opencl else drivers.cuda_devices()
    # `cuda` stands for the first one.
    where = "cuda0" if name == "cuda" else name
    for device in devices:
        if device.where == where:
            if not is_opencl:
                drivers.check_capability(device)
            return device
    available = ", ".join("%s (%s)" % (device.where, device.name) for device in devices)
    raise FrameworkError(
        "there is no device %s; there is: %s" % (name, available),
        "use an available one: THEANO_FLAGS=device=%s" % devices[0].where,
    )
