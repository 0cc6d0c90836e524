"""Writing and checking the locks of this project's channel, and of another channel's packages."""

import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import zstandard

from stacks.channel.assemble import Candidate
from stacks.channel.build import build_packages, check_bytes
from stacks.channel.candidates import Channel, read_channel, solve_index
from stacks.core.console import plural, step
from stacks.core.disk import explain_disk_errors, tmp_folder, write_atomically
from stacks.core.errors import StaleError, UsageError
from stacks.core.records import digests_text
from stacks.core.workspace import Workspace
from stacks.locks import lock, solution
from stacks.locks.lock import Lock
from stacks.locks.solution import DIGESTS, locked_package, publication
from stacks.locks.texts import requirements_of
from stacks.sources.condarc import ChannelAddress, channel_address, conda_web
from stacks.sources.download import LARGEST_FILE, download
from stacks.sources.mirrors import public_url
from stacks.sources.pins import LockedPackage, read_pins
from stacks.sources.web import MissingError, Web
from stacks.variants import stack
from stacks.variants.load import all_variants, load_variant
from stacks.variants.variant import Variant, on_other_channel


def relock(workspace: Workspace, variants: Sequence[Variant]) -> None:
    """Solve the variants, build the packages that are missing, and write the locks that change.

    Raises IntegrityError, and writes nothing, if a package has other bytes than a present lock
    has under its name.
    """
    channel = read_channel(workspace)
    count = plural(len(variants), "variant")
    solutions: list[tuple[Candidate, ...]] = []
    with step("solve", count) as summaries:
        for variant in variants:
            summaries.append(f"{variant.id}, {len(solutions)} of {count} solved")
            solutions.append(solution.solve(variant, channel))
        summaries.append(count)
    candidates = {
        candidate.file_name: candidate for candidates in solutions for candidate in candidates
    }
    built = build_packages(workspace, channel, candidates.values())
    known = lock.known_packages(workspace)
    # A name stands for the same bytes for ever.
    check_bytes((known[name] for name in built if name in known), built)
    locked = {name: locked_package(candidates[name], each.path) for name, each in built.items()}
    for variant, found in zip(variants, solutions, strict=True):
        packages = tuple(locked[candidate.file_name] for candidate in found)
        made = Lock(packages, requirements_of(variant, channel.pins))
        solution.write(workspace, variant, made)
    try:
        write_atomically(workspace.locks / DIGESTS, _digests(workspace, channel))
    except (StaleError, UsageError):
        names = f"{DIGESTS} is not written: other locks are stale"
        print(f"note: {names}; `./invoke lock` makes all", file=sys.stderr)


def examples(workspace: Workspace) -> tuple[Variant, ...]:
    """Return the stacks of the checkout's examples."""
    files = sorted((workspace.root / "examples").glob(f"*/{stack.NAME}"))
    return tuple(load_variant(workspace, str(file)) for file in files)


def check_locks(workspace: Workspace, variants: Sequence[Variant]) -> None:
    """Raise StaleError with every variant whose committed lock is not what `lock` writes now.

    The lock of a person's stack is checked against its stack.yaml alone: newer recipes are no fault
    of it.
    """
    channel = read_channel(workspace)
    stale = []
    for variant in variants:
        try:
            if variant.file and not variant.file.is_relative_to(workspace.root / "examples"):
                lock.current(workspace, variant)
            else:
                solution.check(workspace, variant, channel)
            print(f"  {'current':<9}{variant.id}", file=sys.stderr)
        except StaleError as error:
            stale.append(error)
    if not stale and any(not variant.file for variant in variants):
        path = workspace.locks / DIGESTS
        committed = path.read_bytes() if path.is_file() else b""
        if committed != _digests(workspace, channel).encode():
            stale.append(StaleError(f"{DIGESTS} is stale", fix="./invoke lock"))
    if stale:
        raise StaleError("\n".join(error.what for error in stale), fix=stale[0].fix)


def _digests(workspace: Workspace, channel: Channel) -> str:
    """Return the list of the digests of what a published channel has."""
    return digests_text(publication(workspace, channel, all_variants(workspace)).digests)


def relock_from(workspace: Workspace, variants: Sequence[Variant], channel: str) -> None:
    """Solve variants on another channel, by its name or address, and write their locks.

    Raises UsageError if that is no channel; in the end, with all variants that have no solution.
    """
    address = channel_address(channel)
    pins = read_pins(workspace.sources_lock)
    errors = []
    with tmp_folder() as folder:
        web = conda_web(threading.Event(), address.url)
        for subdir in ("linux-64", "noarch"):
            (folder / subdir).mkdir()
            _download_index(web, f"{address.url}/{subdir}", folder / subdir)
        for own in variants:
            try:
                variant = on_other_channel(own, address.label)
                packages = _solve(variant, address, folder)
            except UsageError as error:
                errors.append(error)
                continue
            made = Lock(packages, requirements_of(variant, pins), channel=address.name)
            solution.write(workspace, variant, made)
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise UsageError("\n".join(error.what for error in errors), fix=errors[0].fix)


def _solve(variant: Variant, address: ChannelAddress, index: Path) -> tuple[LockedPackage, ...]:
    """Return the packages for a variant, sorted by name; UsageError if there is no solution.

    index: the folder with the channel's repodata.json files.
    """
    fix = "the channel may lack these versions, or use other names: choose another channel"
    name = f"{variant.id}: {address.name}"
    specs, glibc = variant.conda_specs(), variant.framework.glibc
    packages = []
    for record in solve_index(index, specs, glibc, name, fix):
        if not (record.sha256 and record.md5 and record.size):
            raise UsageError(
                f"{record.file_name} of {address.name} cannot be locked",
                expected="its SHA-256, MD5 and size in the channel's index",
            )
        packages.append(
            LockedPackage(
                name=record.name.normalized,
                version=str(record.version),
                build=str(record.build),
                url=record.url.replace(index.as_uri(), address.url, 1),
                sha256=record.sha256.hex(),
                md5=record.md5.hex(),
                size=record.size,
                depends=tuple(record.depends),
            )
        )
    return tuple(packages)


def _download_index(web: Web, url: str, folder: Path) -> None:
    """Download a subdir's repodata.json, compressed if the server has that."""
    target, packed = folder / "repodata.json", folder / "repodata.json.zst"
    try:
        try:
            download(web, f"{url}/{packed.name}", packed, None, lambda bytes_gained: None)
        except MissingError:
            download(web, f"{url}/{target.name}", target, None, lambda bytes_gained: None)
            return
    except MissingError as error:
        raise UsageError(
            f"{public_url(url)} is not a conda channel",
            expected=f"{packed.name} or {target.name} there",
            fix="check the channel's address",
        ) from error
    with explain_disk_errors(target):
        try:
            with packed.open("rb") as source, target.open("wb") as file:
                blocks = zstandard.ZstdDecompressor().read_to_iter(source)
                for block in blocks:
                    file.write(block)
                    if file.tell() > LARGEST_FILE:
                        raise UsageError(
                            f"{public_url(url)}/{packed.name} is too large",
                            expected=f"at most {LARGEST_FILE} bytes, decompressed",
                            fix="choose another channel",
                        )
        except zstandard.ZstdError as error:
            raise UsageError(
                f"{public_url(url)}/{packed.name} is not a zstd file", found=str(error)
            ) from error
    packed.unlink()
