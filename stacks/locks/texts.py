"""The texts of a lock's files beside conda-lock.yml, its specs, and locks that do not say them.

The content hash of locks before the first release covers that program's code, so it cannot be
compared. What they install is fixed by SHA-256 all the same; whether they belong to a stack.yaml is
told from its specs.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement

from stacks.channel.locked_package import URL
from stacks.core import jsonfile
from stacks.core.console import display_path
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.sources.pins import File, IndexPin, Pins, canonical, read_pins
from stacks.variants.stack import name_of_file
from stacks.variants.variant import Variant

ENVIRONMENT, SIZES, FILES = "environment.yml", "sizes.json", "files.json"
REQUIREMENTS, PYLOCK = "requirements.txt", "pylock.toml"
REQUIREMENTS_HEADER = """\
# Made by `./invoke lock` for {id}; do not edit.
# Install with: pip install --require-hashes --no-deps --no-build-isolation -r requirements.txt
"""


def requirements_of(variant: Variant, pins: Pins) -> tuple[IndexPin, ...]:
    """Return the pinned files that pip installs, in the framework's order.

    That is the first pinned file of each `name==version`; UsageError if there is none.
    """
    files = []
    for requirement in variant.pip_requirements():
        name, _, version = requirement.partition("==")
        files.append(pins.version(name, version)[0])
    return tuple(files)


def name_in_lock(variant: Variant) -> str:
    """Return a variant's name in its lock: a stack's own follows its folder, which may be moved."""
    return name_of_file(variant.file) if variant.file else variant.name


def specs_hash(variant: Variant) -> str:
    """Return the SHA-256 of what a variant's YAML asks for.

    Of a stack.yaml that is its own content, since its flavour may move on; of a flavour, all that
    it is resolved to. Summaries change no environment, and the values of code are not in it.
    """
    specs: dict[str, Any] = dict(variant.declared)
    if not variant.file:
        specs = variant.model_dump(
            mode="json",
            exclude_defaults=True,
            exclude={"summary": True, "framework": {"summary"}, "blas": {"summary"}},
        )
    specs["requests"] = list(variant.requests)
    return hashlib.sha256(json.dumps(specs, sort_keys=True).encode()).hexdigest()


def seal_of(sealed: str, files: Mapping[str, bytes]) -> str:
    """Return a lock's content hash: of conda-lock.yml without it, and of the other files."""
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    text = json.dumps({"conda-lock.yml": sealed, "files": digests}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _text(name: str) -> str:
    """Return a name as YAML has it; a stack of the year 2024 may have it as its name."""
    return name if isinstance(yaml.safe_load(name), str) else f'"{name}"'


def texts_of(
    variant: Variant,
    sizes: Mapping[str, int],
    requirements: Sequence[IndexPin],
    own: Sequence[IndexPin],
    channel: str = URL,
) -> dict[str, str]:
    """Return the texts of a lock's files beside conda-lock.yml, by name.

    requirements: the framework's files for pip. own: those of a stack.yaml's own packages.
    """
    note = "; `./invoke serve` answers at the channel's address" if channel == URL else ""
    lines = [
        f"# Made by `./invoke lock`{note}.",
        f"name: {_text(name_in_lock(variant))}",
        "channels:",
        f"  - {channel}",
        "  - nodefaults",
        "dependencies:",
        *(f"  - {spec}" for spec in variant.conda_specs()),
    ]
    files = {SIZES: json.dumps(dict(sizes), indent=1, sort_keys=True) + "\n"}
    if requirements or own:
        lines += ["  - pip:", "      - -r requirements.txt"]
        files[REQUIREMENTS] = REQUIREMENTS_HEADER.format(
            id=f"{variant.framework.name}/{name_in_lock(variant)}"
        ) + "".join(
            f"{pin.name}=={pin.version} \\\n    --hash=sha256:{pin.sha256}\n"
            for pin in (*requirements, *own)
        )
        content = {
            "framework": [asdict(pin) for pin in requirements],
            "own": [asdict(pin) for pin in own],
        }
        files[FILES] = json.dumps(content, indent=1) + "\n"
    files[ENVIRONMENT] = "\n".join(lines) + "\n"
    return files


_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def files(
    workspace: Workspace, variant: Variant, folder: Path, fix: str
) -> tuple[tuple[IndexPin, ...], tuple[IndexPin, ...]]:
    """Return the framework's files for pip, and those of a stack.yaml's own packages.

    The first are pinned in recipes/sources.lock; UsageError if it has others than the lock.
    """
    own: tuple[IndexPin, ...] = ()
    if variant.requests:
        path = folder / FILES
        try:
            own = tuple(IndexPin(**dict(File.model_validate(each))) for each in jsonfile.read(path))
        except (OSError, ValueError, TypeError) as error:
            raise UsageError(
                f"{display_path(path)} does not contain the files of your packages",
                found=str(error),
                fix=fix,
            ) from error
    pinned = requirements_of(variant, read_pins(workspace.sources_lock))
    text = ""
    if pinned or own:
        try:
            text = (folder / REQUIREMENTS).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise UsageError(
                f"{display_path(folder / REQUIREMENTS)} cannot be read", found=str(error), fix=fix
            ) from error
    if _HASH.findall(text) != [pin.sha256 for pin in (*pinned, *own)]:
        raise UsageError(
            f"{display_path(folder)}: {REQUIREMENTS} has other files than this version pins",
            fix=fix,
        )
    return pinned, own


def differences(variant: Variant, asked: Sequence[str], own: Sequence[IndexPin]) -> list[str]:
    """Return what a variant's YAML asks for and an older lock was not made for, a line each."""
    return [*_specs(variant, asked), *_requests(variant, own)]


def _specs(variant: Variant, asked: Sequence[str]) -> Iterator[str]:
    # The settings' spec names framework, flavour and a stack's own settings.
    specs = variant.conda_specs()
    if variant.file:
        declared = variant.declared["packages"]
        specs = (*variant.channels_own_specs[-1:], *declared)
    for spec in specs:
        if spec not in asked:
            yield f"{spec} is new"


def _requests(variant: Variant, own: Sequence[IndexPin]) -> Iterator[str]:
    found = {canonical(pin.name): pin.version for pin in own}
    for request in map(Requirement, variant.requests):
        version = found.get(canonical(request.name))
        # Of another Python or machine, or a package that the framework has: nothing is locked.
        if version and not request.specifier.contains(version, prereleases=True):
            yield f"{request} is asked for, {version} is locked"
    names = {canonical(Requirement(request).name) for request in variant.requests}
    if own and not names & found.keys():
        yield "none of the packages under `pip:` is locked"
