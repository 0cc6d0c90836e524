"""Check that the environment's device is available, and that the framework computes on it.

The framework opens a device when it is imported, keeps it, and runs on the host where that fails.
So the suite itself runs with device=cpu, and a process of its own (probe.py) does all work on the
device: it may hang or die without harm to the other checks.
"""

from __future__ import absolute_import, division, print_function

import json
import os
import sys

from verify.core import config_files, process, progress
from verify.core.clock import monotonic
from verify.core.compiling import compile_flags
from verify.core.report import passed, skipped, timing
from verify.core.text import native
from verify.device import report as device_report
from verify.device.probe import MARK

NAME = "device"
KINDS = ("opencl", "cuda")
# Limits in seconds. Opening takes seconds; a step compiles C++ and kernels, which takes half a
# minute on a slow machine.
OPENING, STEP = 60, 240
STEPS = device_report.COMPUTED + ("left on the host", "speed", "optimiser")
FULL_STEPS = ("products", "large optimiser")


def requested(expectation, user_flags):
    """Return the device of the user's flags, or else of the environment; None for the host.

    user_flags: the text of THEANO_FLAGS; only Theano has a device. One of another kind than the
    environment's, or `cpu` in its place, fails the check of the settings, and is not used here.
    """
    device = config_files.flags_of(user_flags).get("device")
    if expectation:
        default = str(expectation["flags"].get("device", "cpu"))
        if not default.startswith(KINDS):
            return None
        return str(device) if device and _kind(device) == _kind(default) else default
    # The last file wins.
    for path in reversed(os.environ.get("THEANORC", "~/.theanorc").split(os.pathsep)):
        options = config_files.options_of(os.path.expanduser(native(path)))
        device = device or options.get(("global", "device"))
    return str(device) if device and device.startswith(KINDS) else None


def _kind(name):
    return next((kind for kind in KINDS if name.startswith(kind)), name)


def check(context):
    """Check that the framework opens the device; set context.device or context.device_missing."""
    messages = []
    done = _run(context, (), OPENING, messages.append)
    message = messages[0] if messages else {}
    if "opened" in message:
        context.device = message["opened"]
        return passed(NAME, device_report.describe(context.device, context.requested_device))
    context.device_missing = True
    if "missing" in message:
        return skipped(NAME, "%s: %s" % (message["missing"], message["fix"]))
    return skipped(NAME, "%s: %s" % (_end(done, OPENING), _fix(context)))


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
    variables = dict(os.environ)
    folder = (context.expectation or {"flags": {}})["flags"].get("base_compiledir")
    if not folder or not os.access(folder, os.W_OK):
        folder = os.path.join(context.folder, "compiled")
    flags = [context.user_flags] if context.user_flags else []
    flags += ["device=" + context.requested_device, compile_flags("theano", folder)]
    variables["THEANO_FLAGS"] = ",".join(flags)
    variables.setdefault("POCL_CACHE_DIR", os.path.join(context.folder, "kernels"))
    return variables


def _end(done, seconds):
    if done.timed_out:
        return "it did not answer within %d s" % seconds
    output = ": " + done.output if done.output else ""
    return "its process ended with status %s%s" % (done.status, output)


def _fix(context):
    return "to see the error, run: THEANO_FLAGS=device=%s %s -c 'import theano'" % (
        context.requested_device,
        sys.executable,
    )
