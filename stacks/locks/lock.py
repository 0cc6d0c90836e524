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

from stacks.channel.locked_package import URL, LockedPackage
from stacks.core import records, yamlfile
from stacks.core.console import display_path
from stacks.core.errors import StaleError, UsageError
from stacks.core.models import Strict
from stacks.core.process import quoted
from stacks.core.workspace import Workspace
from stacks.locks import conda_lock
from stacks.sources.pins import IndexPin
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
        return {package.file_name: package.size for package in self.packages}


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
    path = folder / conda_lock.NAME
    if not path.is_file():
        raise UsageError(f"{variant.id} is not locked", fix=f"run `{command_of(variant)}`")
    fix = fix_of(variant)
    sizes = _sizes(folder / SIZES, fix)
    content = conda_lock.read(path, sizes, fix)
    fix = fix_of(variant, content.channel)
    files = {name: (folder / name) for name in HASHED}
    present = {name: file.read_bytes() for name, file in files.items() if file.is_file()}
    if content.content_hash != conda_lock.content_hash_of(content.hashed, present):
        raise UsageError(
            f"{display_path(folder)}: the lock was edited or damaged",
            expected="the files as `lock` wrote them, with the hash in conda-lock.yml",
            found="other content",
            fix=f"put them back from your version control; else {fix}",
        )
    found = _files(folder / FILES, fix)
    return Lock(
        content.packages,
        found.framework,
        found.own,
        content.channel,
        content.specs,
        _asked(folder / ENVIRONMENT, fix),
        content.made_by,
    )


def _sizes(path: Path, fix: str) -> dict[str, int]:
    try:
        content = records.read_json(path)
        return {str(name): int(size) for name, size in content.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{path} does not contain the packages' sizes", found=str(error), fix=fix
        ) from error


class _Files(Strict):
    """files.json."""

    framework: tuple[IndexPin, ...] = ()
    own: tuple[IndexPin, ...] = ()


def _files(path: Path, fix: str) -> _Files:
    """Return the framework's files for pip, and those of a stack.yaml's own packages."""
    try:
        content = records.read_json(path) if path.is_file() else {}
        return _Files.model_validate_json(json.dumps(content))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{display_path(path)} does not contain the files that pip installs",
            found=str(error),
            fix=fix,
        ) from error


def _asked(path: Path, fix: str) -> tuple[str, ...]:
    """Return the match specs in an environment.yml."""
    try:
        content, _ = yamlfile.parse(path, yamlfile.read_bytes(path))
        return tuple(spec for spec in content["dependencies"] if isinstance(spec, str))
    except (UsageError, KeyError, TypeError) as error:
        raise UsageError(f"{path}: not a valid environment", found=str(error), fix=fix) from error


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
    return tuple(
        each
        for variant in variants
        for each in (
            variant,
            *(
                on_other_channel(variant, folder.name.partition("@")[2])
                for folder in sorted(
                    lock_folder(workspace, variant).parent.glob(f"{variant.name}@*")
                )
                if not variant.file
            ),
        )
    )
