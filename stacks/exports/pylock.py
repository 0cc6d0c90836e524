"""pylock.toml (PEP 751), with the files in a folder beside it.

The format wants an address or a path for each file. A path, because no file of ours names the host
of a package index.
"""

from __future__ import annotations

import json

from stacks.exports.subject import Export, Subject, not_available, require_pip_only, settings_of
from stacks.sources.pins import IndexPin, canonical

NAME, FOLDER = "pylock.toml", "files"


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
    name, text = settings_of(subject)
    is_built = any(not pin.filename.endswith(".whl") for pin in subject.lock.requirements)
    # Else uv fetches what it builds with, which has no hash.
    where = ", where setuptools and wheel are" if is_built else ""
    option = "--no-build-isolation " if is_built else ""
    usage = (
        f"with the files of `--as requirements` in {{to}}/{FOLDER} (pip download -d){where}: "
        f"uv pip install {option}-r {{to}}/{NAME} && "
        f"{subject.variant.framework.rc_variable}={{to}}/{name} python train.py"
    )
    return Export({NAME: "\n".join(lines) + "\n", name: text}, usage)


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
