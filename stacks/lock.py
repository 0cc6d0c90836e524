"""Locks: what a variant is made of, to the byte.

A lock is three committed files: conda-lock.yml (conda-lock's format, version 1), the
environment.yml that it was solved from, and for pip flavours a requirements.txt with hashes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from stacks import channel as channels
from stacks.channel import Channel, Offer
from stacks.disk import REPOSITORY, aside
from stacks.errors import StaleError, UsageError
from stacks.package import Built
from stacks.sources import IndexPin, Pins
from stacks.variant import Variant

LOCKS = REPOSITORY / "envs" / "locks"
PLATFORM = "linux-64"
REQUIREMENTS_HEADER = """\
# Made by `./invoke lock` for {id}; do not edit.
# Install with: pip install --require-hashes --no-deps --no-build-isolation -r requirements.txt
"""
RELOCK = "run `./invoke lock`, look at the difference, and commit it"
RESTORE = "if nobody meant to change it: `git checkout -- envs/locks`"


@dataclass(frozen=True)
class LockedPackage:
    """One conda package of a lock."""

    name: str
    version: str
    build: str
    url: str
    sha256: str

    @property
    def file_name(self) -> str:
        """The last part of the URL."""
        return self.url.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Lock:
    """A variant's lock as it was read from its files.

    `seal` is the content hash that conda-lock.yml bears, and `sealed` all else that it says.
    """

    packages: tuple[LockedPackage, ...]
    requirements: tuple[IndexPin, ...]
    sha256: str
    sealed: str
    seal: str


def folder_of(variant: Variant, locks: Path = LOCKS) -> Path:
    """Return the folder of a variant's lock."""
    return locks / variant.framework.name / variant.name


def requirements_of(variant: Variant, pins: Pins) -> tuple[IndexPin, ...]:
    """Return the pinned files that pip installs, in the order that the framework gives.

    The first pinned file of each `name==version` is the one; UsageError where there is none.
    """
    found = []
    for requirement in variant.pip_requirements():
        name, _, version = requirement.partition("==")
        found.append(pins.version(name, version)[0])
    return tuple(found)


def content_hash(variant: Variant, offers: tuple[Offer, ...], sealed: str) -> str:
    """Return the SHA-256 over what a lock follows from and what it says.

    That is the variant, the packages' inputs, and all of conda-lock.yml but this hash: a digit of
    a package's hash that changed there is found without building the package.
    """
    inputs = {
        "variant": json.loads(variant.model_dump_json()),
        "packages": {offer.file_name: offer.inputs for offer in offers},
        "lock": sealed,
    }
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def render(
    variant: Variant,
    offers: tuple[Offer, ...],
    built: Mapping[str, Built],
    pins: Pins,
    folder: Path,
) -> None:
    """Write a variant's lock files into an existing folder."""
    from conda_lock.lockfile import write_conda_lock_file
    from conda_lock.lockfile.v1.models import HashModel, LockMeta
    from conda_lock.lockfile.v2prelim.models import LockedDependency, Lockfile
    from conda_lock.models.channel import Channel as CondaLockChannel

    packages = [
        LockedDependency(
            name=offer.recipe.package.name,
            version=offer.recipe.package.version,
            manager="conda",
            platform=PLATFORM,
            dependencies=dict(_name_and_rest(spec) for spec in offer.recipe.requirements.run),
            url=offer.url,
            hash=HashModel(md5=built[offer.file_name].md5, sha256=built[offer.file_name].sha256),
            build=offer.build_string,
            categories={"main"},
        )
        for offer in offers
    ]
    path = folder / "conda-lock.yml"

    def write(seal: str) -> None:
        meta = LockMeta(
            content_hash={PLATFORM: seal},
            channels=[CondaLockChannel.from_string(channels.URL)],
            platforms=[PLATFORM],
            sources=["environment.yml"],
        )
        write_conda_lock_file(
            Lockfile(package=packages, metadata=meta),
            path,
            metadata_choices=None,
            include_help_text=False,
        )

    write("")
    write(content_hash(variant, offers, _split(_load(path.read_bytes()))[0]))
    for name, text in inputs_of(variant, pins).items():
        (folder / name).write_text(text)


def _name_and_rest(spec: str) -> tuple[str, str]:
    name, _, rest = spec.partition(" ")
    return name, rest


def inputs_of(variant: Variant, pins: Pins) -> dict[str, str]:
    """Return the texts of environment.yml and, for pip flavours, requirements.txt."""
    lines = [
        f"# {variant.summary} on {variant.framework.summary}.",
        "# Made by `./invoke lock`; `./invoke serve` answers at the channel's address.",
        f"name: {variant.name}",
        "channels:",
        f"  - {channels.URL}",
        "  - nodefaults",
        "dependencies:",
        *(f"  - {spec}" for spec in variant.conda_specs()),
    ]
    files = {}
    requirements = requirements_of(variant, pins)
    if requirements:
        lines += ["  - pip:", "      - -r requirements.txt"]
        files["requirements.txt"] = REQUIREMENTS_HEADER.format(id=variant.id) + "".join(
            f"{pin.name}=={pin.version} \\\n    --hash=sha256:{pin.sha256}\n"
            for pin in requirements
        )
    files["environment.yml"] = "\n".join(lines) + "\n"
    return files


def make(
    variant: Variant, channel: Channel, built: Mapping[str, Built], locks: Path = LOCKS
) -> None:
    """Solve a variant and write its lock in place of the old one."""
    offers = channels.solve(channel, variant.conda_specs(), variant.framework.glibc)
    with aside(folder_of(variant, locks)) as folder:
        folder.mkdir()
        render(variant, offers, built, channel.pins, folder)


def read(variant: Variant, pins: Pins, locks: Path = LOCKS) -> Lock:
    """Return a variant's lock; UsageError where there is none or it cannot be read."""
    folder = folder_of(variant, locks)
    path = folder / "conda-lock.yml"
    if not path.is_file():
        raise UsageError(f"{variant.id} is not locked", mend="run `./invoke lock`")
    data = path.read_bytes()
    try:
        content = _load(data)
        sealed, seal = _split(content)
        packages = tuple(
            LockedPackage(
                name=str(entry["name"]),
                version=str(entry["version"]),
                build=str(entry["build"]),
                url=str(entry["url"]),
                sha256=str(entry["hash"]["sha256"]),
            )
            for entry in content["package"]
        )
    except (YAMLError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{path}: not a lock that conda-lock could have written",
            found=str(error),
            mend=f"{RELOCK}; {RESTORE}",
        ) from error
    texts = inputs_of(variant, pins)
    digest = hashlib.sha256(data)
    for name in sorted(texts):
        digest.update(texts[name].encode())
    return Lock(packages, requirements_of(variant, pins), digest.hexdigest(), sealed, seal)


def _load(data: bytes) -> Any:
    return YAML(typ="safe", pure=False).load(data)


def _split(content: Any) -> tuple[str, str]:
    """Return all that a parsed conda-lock.yml says but its content hash, in one form, and that."""
    metadata = dict(content["metadata"])
    seal = str(metadata.pop("content_hash")[PLATFORM])
    return json.dumps({**content, "metadata": metadata}, sort_keys=True), seal


def check(variant: Variant, channel: Channel, locks: Path = LOCKS) -> Lock:
    """Return a variant's lock if it follows from what is committed.

    Raises StaleError that names what changed where environment.yml, requirements.txt or the
    solution differ from what `./invoke lock` would write now. Nothing is built for this.
    """
    folder = folder_of(variant, locks)
    lock = read(variant, channel.pins, locks)
    changes = []
    for name, text in inputs_of(variant, channel.pins).items():
        path = folder / name
        found = path.read_text(errors="replace") if path.is_file() else None
        if found != text:
            changes.append(f"{name} {'differs' if found is not None else 'is missing'}")
    offers = channels.solve(channel, variant.conda_specs(), variant.framework.glibc)
    solved = {offer.recipe.package.name: offer.url for offer in offers}
    locked = {package.name: package.url for package in lock.packages}
    changes += [
        f"{name}: locked is {_last(locked.get(name))}, the recipes give {_last(solved.get(name))}"
        for name in sorted({*locked, *solved})
        if locked.get(name) != solved.get(name)
    ]
    if not changes and lock.seal != content_hash(variant, offers, lock.sealed):
        changes.append("the variant's own settings changed, or conda-lock.yml by hand")
    if changes:
        raise StaleError(
            f"the lock of {variant.id} is stale:\n" + "\n".join(f"  - {c}" for c in changes),
            mend=f"{RELOCK}; {RESTORE}",
        )
    return lock


def _last(url: str | None) -> str:
    return url.rsplit("/", 1)[-1] if url else "nothing"
