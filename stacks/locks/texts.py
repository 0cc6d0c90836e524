"""The texts of a lock's files, and the hashes of its specs and of all of it."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import yaml

from stacks.channel.locked_package import URL, LockedPackage
from stacks.locks import conda_lock
from stacks.sources.pins import IndexPin, Pins
from stacks.variants.stack import plain_name
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
    return plain_name(variant.file.stem) if variant.file else variant.name


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


def _text(name: str) -> str:
    """Return a name as YAML has it; a stack of the year 2024 may have it as its name."""
    return name if isinstance(yaml.safe_load(name), str) else f'"{name}"'


@dataclass(frozen=True)
class Contents:
    """What a lock is to hold, beside the variant's specs.

    requirements: the framework's files for pip. own: those of a stack.yaml's own packages. more:
    texts of files for other tools, by name; they are no part of the lock.
    """

    packages: Sequence[LockedPackage]
    requirements: Sequence[IndexPin] = ()
    own: Sequence[IndexPin] = ()
    channel: str = URL
    more: Mapping[str, str] = field(default_factory=dict)


def texts_of(variant: Variant, contents: Contents, made_by: str) -> dict[str, str]:
    """Return the texts of a lock's files, by name."""
    channel, requirements, own = contents.channel, contents.requirements, contents.own
    sizes = {package.file_name: package.size for package in contents.packages}
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
    files = {SIZES: json.dumps(sizes, indent=1, sort_keys=True) + "\n"}
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
    conda = conda_lock.text_of(
        contents.packages,
        channel,
        made_by=made_by,
        specs=specs_hash(variant),
        files={name: text.encode() for name, text in files.items()},
    )
    return {conda_lock.NAME: conda, **files}
