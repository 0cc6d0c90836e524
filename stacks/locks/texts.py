"""The texts of a lock's files."""

import json
from dataclasses import asdict

import yaml

from stacks.locks import conda_lock
from stacks.locks.lock import ENVIRONMENT, FILES, REQUIREMENTS, SIZES, Lock, specs_hash
from stacks.sources.pins import URL, IndexPin, Pins
from stacks.variants.stack import plain_name
from stacks.variants.variant import Variant

REQUIREMENTS_HEADER = """\
# Made by `./invoke lock` for {id}; do not edit.
# Install with: pip install --require-hashes --no-deps --no-build-isolation -r requirements.txt
"""


def requirements_of(variant: Variant, pins: Pins) -> tuple[IndexPin, ...]:
    """Return the pinned files that pip installs, in the framework's order.

    That is the first pinned file of each `name==version`; UsageError if there is none.
    """
    requirements = (text.partition("==") for text in variant.pip_requirements())
    return tuple(pins.version(name, version)[0] for name, _, version in requirements)


def name_in_lock(variant: Variant) -> str:
    """Return a variant's name in its lock: a stack's own follows its folder, which may be moved."""
    return plain_name(variant.file.stem) if variant.file else variant.name


def _text(name: str) -> str:
    """Return a name as YAML has it; a stack of the year 2024 may have it as its name."""
    return name if isinstance(yaml.safe_load(name), str) else f'"{name}"'


def texts_of(variant: Variant, lock: Lock, made_by: str) -> dict[str, str]:
    """Return the texts of a lock's files, by name, as they are for the variant's specs."""
    note = "; `./invoke serve` answers at the channel's address" if lock.channel == URL else ""
    lines = [
        f"# Made by `./invoke lock`{note}.",
        f"name: {_text(name_in_lock(variant))}",
        "channels:",
        f"  - {lock.channel}",
        "  - nodefaults",
        "dependencies:",
        *(f"  - {spec}" for spec in variant.conda_specs()),
    ]
    files = {SIZES: json.dumps(lock.sizes, indent=1, sort_keys=True) + "\n"}
    if lock.requirements:
        lines += ["  - pip:", "      - -r requirements.txt"]
        files[REQUIREMENTS] = REQUIREMENTS_HEADER.format(
            id=f"{variant.framework.name}/{name_in_lock(variant)}"
        ) + "".join(
            f"{pin.name}=={pin.version} \\\n    --hash=sha256:{pin.sha256}\n"
            for pin in lock.requirements
        )
        content = {
            "framework": [asdict(pin) for pin in lock.framework_files],
            "own": [asdict(pin) for pin in lock.user_files],
        }
        files[FILES] = json.dumps(content, indent=1) + "\n"
    files[ENVIRONMENT] = "\n".join(lines) + "\n"
    conda = conda_lock.render(
        lock.packages,
        lock.channel,
        made_by=made_by,
        specs=specs_hash(variant),
        files={name: text.encode() for name, text in files.items()},
    )
    return {conda_lock.NAME: conda, **files}
