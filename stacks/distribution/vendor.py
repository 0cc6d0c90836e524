"""`./invoke vendor`: a folder with all that some environments are made of, for use offline.

    DIR/channel/    the packages, as a channel that any conda client reads; with --images, what
                    the Dockerfiles build with is in DIR/channel/image (stacks/image/builder.py)
    DIR/sources/    the files that pip installs; with --sources those of the packages, too
    DIR/tools/      the wheels of requirements.lock and requirements-locking.lock, for the Python
                    that runs this; from a checkout also those of requirements-docs.lock
    DIR/vendor.sha256    the digest of each file, as sha256sum prints it

The same checkout and Python give the same bytes.
"""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import zstandard

from stacks.channel.candidates import IndexEntry, read_channel
from stacks.core import records
from stacks.core.console import display_path, next_step, plural, step
from stacks.core.disk import INSTALLED, REPOSITORY, fixed_umask, replace_atomically
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.paths import check_replaceable
from stacks.core.process import quoted
from stacks.core.workspace import DOCS_LOCK, LOCKING_LOCK, Workspace, run_pip
from stacks.environments.use import kernel
from stacks.environments.use.serve import write_channel
from stacks.image import builder
from stacks.image.files import normalise, write
from stacks.locks import lock
from stacks.locks.solution import entries_of, packages_of
from stacks.sources.fetch import fetch
from stacks.sources.mirrors import CHANNEL, DIGESTS, TOOLS, VARIABLE, pip_options
from stacks.sources.pins import Pin, cached_path
from stacks.variants.variant import Variant

REQUIREMENTS = REPOSITORY / "requirements.lock"
# Nearly all bytes are compressed already.
COMPRESSION_LEVEL = 3


def vendor(
    workspace: Workspace,
    variants: Sequence[Variant],
    folder: Path,
    *,
    sources: bool = False,
    notebooks: bool = False,
    images: bool = False,
    archive: Path | None = None,
) -> None:
    """Write the folder, in place of a vendored folder that is there.

    sources: also the pinned sources of the packages. notebooks: also ipykernel. images: also what
    the Dockerfiles build with. archive: also write the folder as one .tar.zst file. Raises
    UsageError if something else is there.
    """
    records.check_rewritable(folder, DIGESTS, "vendored folder")
    if archive:
        check_replaceable(archive)
        if archive.is_relative_to(folder):
            raise UsageError(
                f"{archive} is inside the folder that it is made of",
                fix="choose a path outside of it",
            )
    channel = read_channel(workspace)
    entries = entries_of(workspace, channel, variants)
    wheels = {pin for v in variants for pin in lock.read(workspace, v).requirements}
    if notebooks:
        wheels |= {pin for v in variants for pin in kernel.pins_of(workspace, v, channel.pins)}
    pins: set[Pin] = {*wheels}
    for entry in entries if sources else ():
        for candidate in (entry.candidate, *entry.candidate.tools) if entry.candidate else ():
            pins |= {*candidate.recipe.pins(channel.pins)}
    # First: a file that is nowhere is reported before any package is built.
    files = fetch(workspace, pins)
    packages = packages_of(workspace, channel, entries)
    with step("vendor", "") as summaries, fixed_umask(), replace_atomically(folder) as new:
        summaries.append(f"copying {plural(len(packages) + len(pins), 'file')}, part 1 of 3")
        write_channel(new / CHANNEL, entries)
        copies = {new / CHANNEL / path: package for path, package in packages.items()}
        copies |= {cached_path(new, pin): files[pin] for pin in pins}
        for target, source in copies.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        summaries.append("fetching the tools' wheels, part 2 of 3")
        _download_tools(new / TOOLS)
        summaries.append("writing what images need, and digests, part 3 of 3")
        if images:
            builder.write(workspace, new / CHANNEL / builder.FOLDER)
        summaries.append(display_path(folder))
        (new / DIGESTS).write_text(records.list_folder(new))
    if archive:
        with step("archive", display_path(archive)):
            write_archive(folder, archive)
    _report(folder, entries, len(pins))
    taken = "the wheel" if INSTALLED else "a copy of this checkout"
    print(f"the other machine needs it, and {taken}")
    option = "".join(f" {variant.option}" for variant in variants[:1])
    next_step(f"{VARIABLE}={quoted([str(folder)])} ./invoke build{option}")


def _download_tools(folder: Path) -> None:
    """Fetch the wheels of the locks that this Python needs; pip checks their hashes."""
    folder.mkdir()
    # Each by itself: they have some tools in different versions.
    for lock_file in (REQUIREMENTS, LOCKING_LOCK, *([] if INSTALLED else [DOCS_LOCK])):
        run_pip(sys.executable, ["download", "--dest", folder, *pip_options()], lock_file)


def _report(folder: Path, entries: Sequence[IndexEntry], files: int) -> None:
    size = sum(path.stat().st_size for path in records.list_files(folder).values())
    tools = len(list((folder / TOOLS).iterdir()))
    print(
        f"{plural(len(entries), 'package')}, {plural(files, 'pinned file')}, "
        f"{tools} wheels of the tools for Python {sys.version_info[0]}.{sys.version_info[1]}: "
        f"{size / 1e6:.0f} MB"
    )
    kept = [e for e in entries if e.candidate and e.recipe.about.republish in ("no", "on request")]
    if kept:
        names = ", ".join(entry.package.name for entry in kept)
        print(f"for your own machines only, not to be republished: {names}")


def check(folder: Path) -> None:
    """Compare each file of a vendored folder with its digest; IntegrityError names what differs.

    A program that a copy has made a plain file differs, too.
    """
    if not (folder / DIGESTS).is_file():
        raise UsageError(f"{folder} is no vendored folder", expected=f"a file {DIGESTS} in it")
    expected = records.parse_digests((folder / DIGESTS).read_text(errors="replace"))
    present = records.list_files(folder)
    del present[DIGESTS]
    programs = {f"{CHANNEL}/{builder.FOLDER}/{builder.STATIC}"}
    if faults := records.differences(expected, present, programs):
        raise IntegrityError(
            f"{folder} is damaged:\n{faults}",
            fix="copy it again, or write it again: ./invoke vendor",
        )
    print(f"{folder}: {plural(len(expected), 'file')}, all as written")


def write_archive(folder: Path, target: Path) -> None:
    """Write a folder as a .tar.zst file; the same content and programs give the same bytes."""
    normalise(folder)
    with replace_atomically(target) as new, new.open("wb") as file:
        compressor = zstandard.ZstdCompressor(level=COMPRESSION_LEVEL, threads=0)
        with compressor.stream_writer(file) as stream:
            write(folder, stream, folder.name)
