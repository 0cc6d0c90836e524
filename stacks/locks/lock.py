"""Locks: the exact packages of each variant.

A lock is four committed files: conda-lock.yml (stacks/locks/conda_lock.py), sizes.json with the
number of bytes of each package, the environment.yml that it was solved from, and for pip flavours
a requirements.txt with hashes. That of a stack.yaml has files.json too: the files of one's own
packages (stacks/locks/requirements.py). The name of a lock's folder ends in the channel's if that
is another than the project's (mkl@NAME).
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stacks.channel import solve as solver
from stacks.channel.offers import URL, Channel, Offer
from stacks.channel.package import Digests
from stacks.channel.settings import with_settings
from stacks.core import jsonfile
from stacks.core.console import display_path
from stacks.core.disk import replace_atomically
from stacks.core.errors import StaleError, UsageError
from stacks.core.process import quoted
from stacks.core.workspace import Workspace
from stacks.locks import conda_lock
from stacks.locks.conda_lock import LockedPackage
from stacks.locks.folders import lock_folder
from stacks.locks.texts import FILES, content_hash, input_files, requirements_of
from stacks.sources.pins import File, IndexPin, Pins
from stacks.variants.variant import Variant

SIZES = "sizes.json"
RESTORE = "if nobody meant to change it: `git checkout -- envs/locks`"


@dataclass(frozen=True)
class Lock:
    """A variant's lock, read from its files.

    requirements: what pip installs; the last `own` of them are a stack.yaml's own packages.
    seal: the content hash in conda-lock.yml. sealed: the rest of that file. sizes: the number of
    bytes of each package, by file name.
    """

    packages: tuple[LockedPackage, ...]
    requirements: tuple[IndexPin, ...]
    sha256: str
    sealed: str
    seal: str
    channel: str = URL
    sizes: Mapping[str, int] = field(default_factory=dict)
    own: int = 0


def write_files(
    variant: Variant,
    offers: tuple[Offer, ...],
    digests: Mapping[str, Digests],
    pins: Pins,
    folder: Path,
    own: Sequence[IndexPin] = (),
) -> None:
    """Write a variant's lock files into an existing folder.

    own: the files of a stack.yaml's own packages.
    """
    packages = [
        LockedPackage(
            name=offer.recipe.package.name,
            version=offer.recipe.package.version,
            build=offer.build_string,
            url=offer.url,
            sha256=digests[offer.file_name].sha256,
            md5=digests[offer.file_name].md5,
            depends=offer.recipe.requirements.run,
        )
        for offer in offers
    ]
    sizes = {offer.file_name: digests[offer.file_name].size for offer in offers}
    _write(variant, offers, packages, sizes, pins, folder, URL, own)


def _write(
    variant: Variant,
    offers: Sequence[Offer],
    packages: Sequence[LockedPackage],
    sizes: Mapping[str, int],
    pins: Pins,
    folder: Path,
    channel: str,
    own: Sequence[IndexPin] = (),
) -> None:
    conda_lock.write(
        folder / conda_lock.NAME,
        packages,
        channel,
        lambda sealed: content_hash(variant, offers, sealed, sizes, own),
    )
    (folder / SIZES).write_text(json.dumps(sizes, indent=1, sort_keys=True) + "\n")
    for name, text in input_files(variant, pins, channel, own).items():
        (folder / name).write_text(text, encoding="utf-8")


def solve(variant: Variant, channel: Channel) -> tuple[Offer, ...]:
    """Return the packages of a variant; UsageError if there is no solution."""
    own = with_settings(channel, [variant])
    return solver.solve(own, variant.conda_specs(), variant.framework.glibc)


def make(
    workspace: Workspace,
    variant: Variant,
    channel: Channel,
    digests: Mapping[str, Digests],
    own: Sequence[IndexPin] = (),
    more: Mapping[str, str] | None = None,
) -> None:
    """Solve a variant and replace its lock.

    digests: those of the packages, by file name. own: the files of a stack.yaml's own packages.
    more: texts of files that other tools read, by name.
    """
    offers = solve(variant, channel)
    with replace_atomically(lock_folder(workspace, variant)) as folder:
        folder.mkdir()
        write_files(variant, offers, digests, channel.pins, folder, own)
        for name, text in (more or {}).items():
            (folder / name).write_text(text, encoding="utf-8")


def make_of_other_channel(
    workspace: Workspace,
    variant: Variant,
    channel: str,
    packages: Sequence[LockedPackage],
    sizes: Mapping[str, int],
    pins: Pins,
) -> None:
    """Write the lock of a variant with another channel's packages."""
    with replace_atomically(lock_folder(workspace, variant)) as folder:
        folder.mkdir()
        _write(variant, (), packages, sizes, pins, folder, channel)


def read(workspace: Workspace, variant: Variant, pins: Pins) -> Lock:
    """Return a variant's lock; UsageError if there is none or it cannot be read."""
    path = lock_folder(workspace, variant) / conda_lock.NAME
    if not path.is_file():
        raise UsageError(f"{variant.id} is not locked", fix=f"run `{_command(variant)}`")
    content = conda_lock.read(path, _fix(variant, _command(variant)))
    own = _own_files(variant, path.with_name(FILES))
    texts = input_files(variant, pins, content.channel, own)
    # Of the content: a comment, or another form of the same YAML, changes no environment.
    digest = hashlib.sha256(f"{content.sealed}{content.seal}".encode())
    for name in sorted(texts):
        digest.update(texts[name].encode())
    return Lock(
        content.packages,
        (*requirements_of(variant, pins), *own),
        digest.hexdigest(),
        content.sealed,
        content.seal,
        content.channel,
        _sizes(variant, path.with_name(SIZES)),
        len(own),
    )


def _own_files(variant: Variant, path: Path) -> tuple[IndexPin, ...]:
    """Return the files of a stack.yaml's own packages."""
    if not variant.requests:
        return ()
    try:
        return tuple(IndexPin(**dict(File.model_validate(each))) for each in jsonfile.read(path))
    except FileNotFoundError as error:
        raise UsageError(
            f"{display_path(path.parent)} was made before packages were named under `pip:`",
            fix=_fix(variant, _command(variant)),
        ) from error
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(
            f"{display_path(path)} does not contain the files of your packages",
            found=str(error),
            fix=_fix(variant, _command(variant)),
        ) from error


def own_files(workspace: Workspace, variant: Variant) -> tuple[IndexPin, ...]:
    """Return the files of a stack.yaml's own packages in its lock; none if it cannot be read."""
    path = lock_folder(workspace, variant) / FILES
    if not path.exists():
        return ()
    try:
        return _own_files(variant, path)
    except UsageError as error:
        print(f"note: {error.what}; all versions of your packages are chosen anew", file=sys.stderr)
        return ()


def _sizes(variant: Variant, path: Path) -> dict[str, int]:
    try:
        return {str(name): int(size) for name, size in jsonfile.read(path).items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{path} does not contain the packages' sizes",
            found=str(error),
            fix=_fix(variant, _command(variant)),
        ) from error


def _command(variant: Variant, channel: str = "") -> str:
    """Return the command that makes a variant's lock."""
    if variant.file:
        return f"./invoke lock {variant.option}"
    if not variant.channel:
        return "./invoke lock"
    flavour = variant.name.partition("@")[0]
    channel = quoted([channel]) if channel else f"<the name or address of {variant.channel}>"
    return f"./invoke lock --variant {flavour} --channel {channel}"


def _fix(variant: Variant, command: str) -> str:
    if variant.file:
        return f"run `{command}`"
    return f"run `{command}`, look at the difference, and commit it; {RESTORE}"


def check(workspace: Workspace, variant: Variant, channel: Channel) -> Lock:
    """Return a variant's lock if it is current.

    Raises StaleError, with the changes, if environment.yml, requirements.txt or the solution differ
    from what `./invoke lock` would write now. Nothing is built for this, and another channel's
    index is not read.
    """
    folder = lock_folder(workspace, variant)
    lock = read(workspace, variant, channel.pins)
    changes = []
    own = lock.requirements[len(lock.requirements) - lock.own :]
    for name, text in input_files(variant, channel.pins, lock.channel, own).items():
        path = folder / name
        committed = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None
        if committed != text:
            changes.append(f"{name} {'is missing' if committed is None else 'differs'}")
    offers: tuple[Offer, ...] = ()
    if not variant.channel:
        offers = solve(variant, channel)
        solved = {offer.recipe.package.name: offer.url for offer in offers}
        locked = {package.name: package.url for package in lock.packages}
        changes += [
            f"{name}: locked is {_last(locked.get(name))}, "
            f"the recipes give {_last(solved.get(name))}"
            for name in sorted({*locked, *solved})
            if locked.get(name) != solved.get(name)
        ]
    if not changes and lock.seal != content_hash(variant, offers, lock.sealed, lock.sizes, own):
        settings = variant.file.name if variant.file else "the variant's own settings"
        changes.append(f"{settings} changed, or conda-lock.yml by hand")
    if changes:
        raise StaleError(
            f"the lock of {variant.id} is stale:\n" + "\n".join(f"  - {c}" for c in changes),
            fix=_fix(variant, _command(variant, lock.channel)),
        )
    return lock


def _last(url: str | None) -> str:
    return url.rsplit("/", 1)[-1] if url else "nothing"
