"""pylock.toml (PEP 751), with the files in a folder beside it.

The format wants an address or a path for each file. A path, because no file of ours names the host
of a package index.
"""

from __future__ import annotations

import json

from stacks.exports.subject import Export, Subject, not_available, require_pip_only
from stacks.sources.pins import IndexPin, canonical

FOLDER = "files"


def export(subject: Subject) -> Export:
    """Return a pylock.toml; UsageError if the variant has conda packages, or Python 2.7."""
    require_pip_only(subject, "pylock")
    python = subject.variant.framework.python
    if python == "2.7":
        reason = "no installer of Python 2.7 reads it"
        raise not_available(subject, "pylock", reason, "requirements")
    major, minor = map(int, python.split("."))
    lines = [
        'lock-version = "1.0"',
        'created-by = "theano-stacks"',
        f'requires-python = ">={python},<{major}.{minor + 1}"',
    ]
    for pin in sorted(subject.lock.requirements, key=lambda pin: canonical(pin.name)):
        lines += ["", *_package(pin)]
    usage = (
        f"put the files of `--as requirements` into {FOLDER}/ beside {{to}} (pip download -d "
        f"{FOLDER}), then uv pip install -r {{to}}"
    )
    return Export({"pylock.toml": "\n".join(lines) + "\n"}, usage)


def _package(pin: IndexPin) -> list[str]:
    is_wheel = pin.filename.endswith(".whl")
    return [
        "[[packages]]",
        f"name = {json.dumps(canonical(pin.name))}",
        f"version = {json.dumps(pin.version)}",
        "[[packages.wheels]]" if is_wheel else "[packages.sdist]",
        f"path = {json.dumps(f'{FOLDER}/{pin.filename}')}",
        f"size = {pin.size}",
        f"hashes = {{ sha256 = {json.dumps(pin.sha256)} }}",
    ]
