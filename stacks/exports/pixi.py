"""pixi.toml: each package by version, build and SHA-256.

pixi's reference of the manifest.
"""

from __future__ import annotations

import json

from stacks.exports.subject import Export, Subject, require_conda_only, with_channel
from stacks.locks.conda_lock import PLATFORM


def export(subject: Subject) -> Export:
    """Return a pixi.toml; UsageError if pip installs a part of the variant."""
    reason = "a pixi.toml has no hashes for files of the package index"
    require_conda_only(subject, "pixi", reason)
    lines = [
        "[workspace]",
        f"name = {_quoted(subject.name)}",
        f"description = {_quoted(subject.summary)}",
        f"channels = [{_quoted(subject.lock.channel)}]",
        f"platforms = [{_quoted(PLATFORM)}]",
        "",
        "[system-requirements]",
        f"libc = {_quoted(subject.variant.framework.glibc)}",
        "",
        "[dependencies]",
    ]
    for package in subject.lock.packages:
        values = {
            "version": f"=={package.version}",
            "build": package.build,
            "sha256": package.sha256,
        }
        table = ", ".join(f"{key} = {_quoted(value)}" for key, value in values.items())
        lines.append(f"{_quoted(package.name)} = {{ {table} }}")
    usage = with_channel(subject, "pixi install --manifest-path {to}")
    return Export({"pixi.toml": "\n".join(lines) + "\n"}, usage)


def _quoted(text: str) -> str:
    # A string of JSON is one of TOML, too; a line of ours has no control characters.
    return json.dumps(text, ensure_ascii=False)
