"""The texts of a lock's files, and the hash that seals them. They follow from variant and pins."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import yaml

from stacks.channel.offers import URL, Offer
from stacks.sources.pins import IndexPin, Pins
from stacks.variants.stack import name_of_file
from stacks.variants.variant import Variant

FILES = "files.json"
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


def content_hash(
    variant: Variant,
    offers: Sequence[Offer],
    sealed: str,
    sizes: Mapping[str, int],
    own: Sequence[IndexPin] = (),
) -> str:
    """Return the SHA-256 of a lock's inputs and content.

    That is the variant, the packages' inputs (none for another channel's), conda-lock.yml without
    this hash, the sizes, and a stack.yaml's own files: a changed digit in a package's hash is found
    without a build of it.
    """
    inputs = {
        "variant": {**json.loads(variant.model_dump_json()), "name": name_in_lock(variant)},
        "packages": {offer.file_name: offer.inputs for offer in offers},
        "lock": sealed,
        "sizes": dict(sizes),
        **({"own": [asdict(pin) for pin in own]} if own else {}),
    }
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def _text(name: str) -> str:
    """Return a name as YAML has it; a stack of the year 2024 may have it as its name."""
    return name if isinstance(yaml.safe_load(name), str) else f'"{name}"'


def input_files(
    variant: Variant, pins: Pins, channel: str = URL, own: Sequence[IndexPin] = ()
) -> dict[str, str]:
    """Return the texts of environment.yml and, where pip installs any, requirements.txt.

    With files.json for a stack.yaml's own packages.
    """
    served = channel == URL
    note = "; `./invoke serve` answers at the channel's address" if served else ""
    lines = [
        f"# {variant.summary} on {variant.framework.summary}.",
        f"# Made by `./invoke lock`{note}.",
        f"name: {_text(name_in_lock(variant))}",
        "channels:",
        f"  - {channel}",
        "  - nodefaults",
        "dependencies:",
        *(f"  - {spec}" for spec in variant.conda_specs()),
    ]
    files = {}
    requirements = (*requirements_of(variant, pins), *own)
    if requirements:
        lines += ["  - pip:", "      - -r requirements.txt"]
        files["requirements.txt"] = REQUIREMENTS_HEADER.format(
            id=f"{variant.framework.name}/{name_in_lock(variant)}"
        ) + "".join(
            f"{pin.name}=={pin.version} \\\n    --hash=sha256:{pin.sha256}\n"
            for pin in requirements
        )
    # Also where the framework has all that is asked for.
    if variant.requests:
        rows = ",\n".join(f" {json.dumps(asdict(pin))}" for pin in own)
        files[FILES] = f"[\n{rows}\n]\n"
    files["environment.yml"] = "\n".join(lines) + "\n"
    return files
