"""The device that an environment is made for: is it there, and is it what computes?

The framework opens a device when it is imported, for good, and goes on without it where that fails.
So the suite itself runs with device=cpu, and what is to be done on the device is done by a process
of its own (probe.py), which may hang or die without harm to the rest.
"""

from __future__ import absolute_import, division, print_function

import json
import os
import sys

from verify.checks import settings
from verify.core import process, progress
from verify.core.clock import monotonic
from verify.core.report import passed, skipped, timing
from verify.device import report as device_report

NAME = "device"
MARK = "verify-device "
KINDS = ("opencl", "cuda")
# Opening takes seconds. A step compiles C++ and kernels: half a minute on a slow machine.
OPENING, STEP = 60, 240
STEPS = device_report.COMPUTED + ("left on the host", "speed", "optimiser")
FULL_STEPS = ("large optimiser",)


def asked(expectation, user_flags):
    """Return the device that is wanted: the user's, else the environment's; None for the host.

    Only Theano has the flag. A device that is not of the environment's kind is for the check of
    the settings to refuse, and so is none where the environment has one.
    """
    named = settings.flags_of(user_flags).get("device")
    if expectation:
        own = str(expectation["flags"].get("device", "cpu"))
        if not own.startswith(KINDS):
            return None
        return str(named) if named and _kind(named) == _kind(own) else own
    for path in os.environ.get("THEANORC", "~/.theanorc").split(os.pathsep):
        options = settings.options_of(os.path.expanduser(path))
        named = named or options.get(("global", "device"))
    return str(named) if named and named.startswith(KINDS) else None


def _kind(name):
    return next((kind for kind in KINDS if name.startswith(kind)), name)


def check(context):
    """Check that the device is there and that the framework opens it; fill context.device."""
    messages = []
    done = _run(context, (), OPENING, messages.append)
    found = messages[0] if messages else {}
    if "opened" in found:
        context.device = found["opened"]
        return passed(NAME, device_report.describe(context.device, context.requested_device))
    context.device_missing = True
    if "missing" in found:
        return skipped(NAME, "%s: %s" % (found["missing"], found["fix"]))
    return skipped(NAME, "%s: %s" % (_end(done, OPENING), _fix(context)))


def measure(context):
    """Do every step on the device; return ([Check], [Timing]), and fill context.device."""
    start, results, begun = monotonic(), {}, []

    def each(message):
        if "begin" in message:
            begun.append(message["begin"])
            progress.note("on the device: %s" % message["begin"])
        elif "end" in message:
            results[message["end"]] = message

    steps = STEPS + FULL_STEPS if context.full else STEPS
    while len(results) < len(steps):
        waiting = [name for name in steps if name not in results]
        done = _run(context, waiting, STEP, each)
        # A step that killed the process is not tried again, and neither is one that never began.
        broken = begun[-1] if begun and begun[-1] in waiting else waiting[0]
        if broken not in results:
            results[broken] = {"error": _end(done, STEP), "text": ""}
    checks, timings = device_report.checks_and_timings(context, results)
    return checks, timings + [timing("device: all of it", "s", [monotonic() - start])]


def _run(context, steps, seconds, take):
    last = []

    def each(line):
        if line.startswith(MARK):
            take(json.loads(line[len(MARK) :]))
        elif line.strip():
            last[:] = [line.strip()]

    words = process.suite_command("device-probe", context.requested_device, *steps)
    done = process.follow(words, seconds, _environment(context), each)
    return done._replace(output=last[0] if last else "")


def _environment(context):
    """Return the variables of the process that has the device.

    It compiles into the environment's own folder, and keeps kernels in it, as a user's program
    does: the next verification finds them there. In a diagnosis nothing is left behind.
    """
    environment = dict(os.environ)
    own = (context.expectation or {"flags": {}})["flags"].get("base_compiledir")
    if not own or not os.access(own, os.W_OK):
        own = os.path.join(context.folder, "compiled")
    flags = [context.user_flags] if context.user_flags else []
    flags += ["device=" + context.requested_device, "base_compiledir=" + own]
    environment["THEANO_FLAGS"] = ",".join(flags)
    environment.setdefault("POCL_CACHE_DIR", os.path.join(context.folder, "kernels"))
    return environment


def _end(done, seconds):
    if done.timed_out:
        return "it did not answer within %d s" % seconds
    said = ", saying: " + done.output if done.output else ""
    return "the process that had it ended with status %s%s" % (done.status, said)


def _fix(context):
    return "try it alone: %s -c 'import theano' with THEANO_FLAGS=device=%s" % (
        sys.executable,
        context.requested_device,
    )
