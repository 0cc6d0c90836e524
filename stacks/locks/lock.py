"""A variant's lock, read from its files: the exact packages, whoever made them.

A lock is a few committed files: conda-lock.yml (stacks/locks/conda_lock.py), sizes.json with the
number of bytes of each package, and the environment.yml that it was solved from. Where pip installs
anything there are a requirements.txt with hashes and files.json, with the size and SHA-256 of each
file. The name of a lock's folder ends in the channel's if that is another than the project's
(mkl@NAME).

A lock suffices: what it names is looked up by SHA-256 (stacks/channel/build.py), and nothing is
solved. It is refused if it was damaged or edited, or if the YAML asks for something else.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from stacks.core import records, yamlfile
from stacks.core.console import display_path
from stacks.core.errors import StaleError, UsageError
from stacks.core.models import Strict
from stacks.core.process import quoted
from stacks.core.workspace import Workspace
from stacks.locks import conda_lock
from stacks.sources.pins import URL, IndexPin, LockedPackage
from stacks.variants.variant import Variant, on_other_channel

ENVIRONMENT, SIZES, FILES = "environment.yml", "sizes.json", "files.json"
REQUIREMENTS, PYLOCK = "requirements.txt", "pylock.toml"
# The files that the content hash covers, where they are present. Not pylock.toml, which is for
# other tools: it may name an index, so it is not in every clone.
HASHED = (SIZES, ENVIRONMENT, REQUIREMENTS, FILES)
RESTORE = "if nobody meant to change it: `git checkout -- envs/locks`"


@dataclass(frozen=True)
class Lock:
    """A variant's lock, read from its files or to be written.

    framework_files, user_files: what pip installs, for the framework and of a stack.yaml's own
    packages. Read from files it has more. specs: the hash of the specs that it was made for. asked:
    the match specs in its environment.yml. made_by: the version of theano-stacks that made it.
    """

    packages: tuple[LockedPackage, ...]
    framework_files: tuple[IndexPin, ...] = ()
    user_files: tuple[IndexPin, ...] = ()
    channel: str = URL
    specs: str = ""
    asked: tuple[str, ...] = ()
    made_by: str = ""

    @property
    def requirements(self) -> tuple[IndexPin, ...]:
        """All that pip installs."""
        return (*self.framework_files, *self.user_files)

    @property
    def files(self) -> tuple[LockedPackage | IndexPin, ...]:
        """All that it installs: the conda packages, then what pip installs."""
        return (*self.packages, *self.requirements)

    @property
    def digests(self) -> list[tuple[str, str]]:
        """The name and the SHA-256 of each file."""
        return [(file.name, file.sha256) for file in self.files]

    @property
    def sha256(self) -> str:
        """The SHA-256 of the digests of all that it installs: equal locks give equal bytes."""
        return hashlib.sha256(json.dumps(self.digests).encode()).hexdigest()

    @property
    def sizes(self) -> dict[str, int]:
        """The number of bytes of each package, by file name."""
        return {package.filename: package.size for package in self.packages}


def current(workspace: Workspace, variant: Variant) -> Lock:
    """Return a variant's lock if it was made for what the variant's YAML asks for.

    Raises StaleError, with what differs, if it was not; what `read` raises.
    """
    found = read(workspace, variant)
    if changes := _differences(variant, found):
        raise stale(variant, found, changes)
    return found


def stale(variant: Variant, found: Lock, changes: Iterable[str]) -> StaleError:
    """Return the error for a lock that is not for its variant; changes: a line each."""
    return StaleError(
        f"the lock of {variant.id} is stale:\n" + "\n".join(f"  - {each}" for each in changes),
        fix=fix_of(variant, found.channel),
    )


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


def _differences(variant: Variant, found: Lock) -> list[str]:
    """Return what a variant's YAML asks for and its lock was not made for, a line each."""
    if found.specs == specs_hash(variant):
        return []
    asked = set(variant.conda_specs())
    changes = [f"{spec} is new" for spec in sorted(asked - {*found.asked})]
    changes += [f"{spec} is no longer asked for" for spec in sorted({*found.asked} - asked)]
    name = variant.file.name if variant.file else "the variant's YAML"
    return changes or [f"{name} asks for other packages or settings than the lock was made for"]


def read(workspace: Workspace, variant: Variant) -> Lock:
    """Return a variant's lock.

    Raises UsageError if there is none, or if it cannot be read, is damaged or was edited.
    """
    folder = lock_folder(workspace, variant)
    if not (folder / conda_lock.NAME).is_file():
        raise UsageError(f"{variant.id} is not locked", fix=f"run `{command_of(variant)}`")
    try:
        return read_folder(folder)
    except conda_lock.NewerError:
        raise
    except UsageError as error:
        raise UsageError(
            f"{display_path(folder)}: the lock was edited or damaged",
            expected="the files as `lock` wrote them, with the hash in conda-lock.yml",
            found=error,
            fix=f"put them back from your version control; else {fix_of(variant)}",
        ) from error


class _Files(Strict):
    """files.json: the framework's files for pip, and those of a stack.yaml's own packages."""

    framework: tuple[IndexPin, ...] = ()
    user: tuple[IndexPin, ...] = Field((), alias="own")


def read_folder(folder: Path) -> Lock:
    """Return the lock in a folder; UsageError if it cannot be read, is damaged or was edited."""
    paths = {name: folder / name for name in HASHED}
    try:
        present = {name: path.read_bytes() for name, path in paths.items() if path.is_file()}
        content = conda_lock.read(folder / conda_lock.NAME, present)
        # The hash covers these, so only who also edits the hash makes them invalid.
        files = _Files.model_validate_json(present.get(FILES, b"{}"))
        asked, _ = yamlfile.parse(paths[ENVIRONMENT], present[ENVIRONMENT])
        return Lock(
            content.packages(records.parse_json(present[SIZES])),
            files.framework,
            files.user,
            content.metadata.channels[0].url,
            content.metadata.custom_metadata.specs,
            tuple(spec for spec in asked["dependencies"] if isinstance(spec, str)),
            content.metadata.custom_metadata.made_by,
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{type(error).__name__}: {error}") from error


def known_packages(workspace: Workspace) -> dict[str, LockedPackage]:
    """Return the packages of the committed locks by file name.

    Locks of other channels are not read, and those that cannot be read are left out.
    """
    known: dict[str, LockedPackage] = {}
    for path in sorted(workspace.locks.glob(f"*/*/{conda_lock.NAME}")):
        if "@" not in path.parent.name:
            known |= packages_in(path.parent)
    return known


def packages_in(folder: Path) -> dict[str, LockedPackage]:
    """Return the packages of the lock in a folder by file name; none if it cannot be read."""
    try:
        return {package.filename: package for package in read_folder(folder).packages}
    except UsageError:
        return {}


def command_of(variant: Variant, channel: str = "") -> str:
    """Return the command that makes a variant's lock."""
    if variant.file:
        return f"./invoke lock {variant.option}"
    if not variant.channel:
        return "./invoke lock"
    flavour = variant.name.partition("@")[0]
    channel = quoted([channel]) if channel else f"<the name or address of {variant.channel}>"
    return f"./invoke lock --variant {flavour} --channel {channel}"


def fix_of(variant: Variant, channel: str = "") -> str:
    """Return the fix of a lock that cannot be used; channel: the other one that it is for."""
    command = f"run `{command_of(variant, channel)}`"
    if variant.file:
        return command
    return f"{command}, look at the difference, and commit it; {RESTORE}"


def lock_folder(workspace: Workspace, variant: Variant) -> Path:
    """Return the folder of a variant's lock."""
    if variant.file:
        return variant.file.with_suffix(".lock")
    return workspace.locks / variant.framework.name / variant.name


def with_other_channels(workspace: Workspace, variants: Iterable[Variant]) -> tuple[Variant, ...]:
    """Return the variants, each followed by those that are locked on other channels."""
    found = []
    for variant in variants:
        found.append(variant)
        if not variant.file:
            folder = lock_folder(workspace, variant)
            others = sorted(folder.parent.glob(f"{folder.name}@*"))
            found += [on_other_channel(variant, each.name.partition("@")[2]) for each in others]
    return tuple(found)
