"""The results of checks and timings, and the report file."""

from __future__ import absolute_import, division, print_function

import collections
import io
import json
import os
import tempfile

from verify.core import portable

# As in report.schema.json. In reports of schema 1 the key `fix` of a check has another name.
SCHEMA = 2
# In place of a fix, where an error's words name no cause.
UNKNOWN = "not recognised"
PASS, FAIL, SKIP = "pass", "fail", "skip"

# speed: the figures of a check of a speed, else None: `gflops`; `share` and `least`, the best and
# the worst of all pairs of a product and a peak; `remarks`; `disturbed`: the pairs differ too much,
# or something that takes time was seen, so that no share can be told.
Check = collections.namedtuple("Check", "name status detail fix speed")
Check.__new__.__defaults__ = (None,)
Timing = collections.namedtuple("Timing", "name unit samples median")


def passed(name, detail):
    """Return a check that passed."""
    return Check(name, PASS, detail, None)


def failed(name, detail, fix):
    """Return a check that failed, with what to do about it."""
    return Check(name, FAIL, detail, fix)


def skipped(name, reason):
    """Return a check that does not apply here, and why."""
    return Check(name, SKIP, reason, None)


def speed_text(speed, remarks=()):
    """Return the rate and share of a speed for people, with remarks in brackets."""
    least, share = 100 * speed["least"], 100 * speed["share"]
    if speed["disturbed"]:
        text = "too noisy to judge: %.0f to %.0f %% of this machine's peak"
        return text % (least, share) + (" (%s)" % "; ".join(remarks) if remarks else "")
    text = "at best %.1f GFLOP/s, %.0f %% of this machine's peak (%s)"
    remarks = ["%.0f to %.0f %%" % (least, share)] + list(remarks)
    return text % (speed["gflops"], share, "; ".join(remarks))


def timing(name, unit, samples):
    """Return a timing with the median of its samples."""
    return Timing(name, unit, list(samples), median(samples))


def median(samples):
    """Return the median of at least one sample."""
    ordered = sorted(samples)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2.0


def document(checks, timings, device=None, advice=(), **content):
    """Return the whole report as dictionaries and lists, as report.schema.json describes it.

    content: variant, framework, machine, settings and packages. Paths are whole, so that a fix can
    be typed: what is written for others goes through `private`.
    """
    content.update(
        schema=SCHEMA,
        ok=all(check.status != FAIL for check in checks),
        checks=_with_consequences(checks),
        timings=[dict(item._asdict()) for item in timings],
    )
    if advice:
        content["advice"] = list(advice)
    if device:
        content["device"] = device
    return content


def _with_consequences(checks):
    """Return the checks as dictionaries; what follows from an earlier fault names it.

    Checks that fail for the same reason have the same fix. Where none is known, only the same
    message is the same reason.
    """
    first_with, contents = {}, []
    for check in checks:
        content = dict(check._asdict())
        if check.speed is None:
            del content["speed"]
        if check.status == FAIL:
            key = check.fix, (check.detail if (check.fix or UNKNOWN).startswith(UNKNOWN) else None)
            first = first_with.setdefault(key, check.name)
            if first != check.name:
                content["follows"] = first
        contents.append(content)
    return contents


def write(path, content):
    """Write the report as JSON, with the user's home folder as `~`."""
    text = json.dumps(private(content), indent=2, sort_keys=True) + "\n"
    write_atomically(path, text.encode("utf-8"))


def write_atomically(path, data):
    """Write a file: a reader sees all of the bytes, or the file before.

    A device or a pipe, such as /dev/stdout, is written to.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        # Before its links are followed: those of /dev/stdout may lead to a pipe without a path.
        with io.open(path, "wb") as file:
            file.write(data)
        return
    path = os.path.realpath(path)
    folder = os.path.dirname(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(prefix=".report.", dir=folder)
    os.close(handle)
    try:
        with io.open(temporary, "wb") as file:
            file.write(data)
        # mkstemp's mode 0600 would hide the report from other users.
        os.chmod(temporary, 0o644)
        os.rename(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def private(value):
    """Return a structure with the user's home folder written as `~` in every text."""
    if isinstance(value, dict):
        return {key: private(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [private(item) for item in value]
    home = portable.text(os.path.expanduser("~"))
    if isinstance(value, (bytes, portable.TEXT)):
        value = portable.text(value)
        return value.replace(home + "/", "~/") if len(home) > 1 else value
    return value
