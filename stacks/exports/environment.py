"""environment.yml for conda, mamba and micromamba: each package by version and build."""

from __future__ import annotations

from typing import Any

import yaml

from stacks.exports.subject import Export, Subject, by_pip, with_channel

NAME = "environment.yml"


def export(subject: Subject) -> Export:
    """Return an environment.yml with the locked packages, and the files of pip with hashes."""
    command = by_pip(subject, "conda env create -f {to}")
    return Export({NAME: text_of(subject)}, with_channel(subject, command))


def text_of(subject: Subject) -> str:
    """Return the text of environment.yml."""
    dependencies: list[Any] = [f"{p.name}={p.version}={p.build}" for p in subject.lock.packages]
    if subject.lock.requirements:
        pins = subject.lock.requirements
        lines = [f"{pin.name}=={pin.version} --hash=sha256:{pin.sha256}" for pin in pins]
        dependencies.append({"pip": lines})
    content = {
        "name": subject.name,
        "channels": [subject.lock.channel, "nodefaults"],
        "dependencies": dependencies,
    }
    return f"# {subject.summary}.\n" + yaml.safe_dump(
        content, sort_keys=False, allow_unicode=True, width=1 << 20
    )
