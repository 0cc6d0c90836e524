"""Installing pinned files with pip, on top of the conda packages."""

import base64
import csv
import hashlib
import io
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from stacks.channel.staging.python_packages import SHEBANG
from stacks.channel.staging.tree import normalised
from stacks.core import reproducible
from stacks.core.disk import tmp_folder
from stacks.core.errors import IntegrityError
from stacks.core.process import call
from stacks.core.workspace import Workspace
from stacks.environments.make.contents import walk
from stacks.sources.fetch import fetch
from stacks.sources.pins import IndexPin


def install(prefix: Path, files: Mapping[IndexPin, Path]) -> None:
    """Install files into a prefix with its own pip, which checks their hashes.

    Raises IntegrityError or CommandError (pip's output).
    """
    if not files:
        return
    before = _tree(prefix)
    with aliased(prefix) as (folder, alias):
        # Source archives and wheels: to build a framework takes as long as to install its wheels,
        # and needs none of them.
        groups: dict[bool, list[tuple[IndexPin, Path]]] = {}
        for pin, path in files.items():
            groups.setdefault(pin.filename.endswith(".whl"), []).append((pin, path))
        with ThreadPoolExecutor(len(groups)) as pool:
            list(pool.map(lambda group: _pip_install(alias, group, folder), groups.values()))
    names = sorted(_tree(prefix) - before)
    scripts = _make_relocatable(prefix, names, (alias, prefix))
    for name in names:
        if name.endswith(".dist-info/RECORD"):
            _correct_record((prefix / name).parent, prefix, scripts)


def add_beside(workspace: Workspace, prefix: Path, pins: Sequence[IndexPin], target: Path) -> None:
    """Install the pinned files with a prefix's pip into the new folder `target`, without scripts.

    The prefix stays as it is. Raises FetchError, IntegrityError or CommandError (pip's output).
    """
    files = fetch(workspace, pins)
    target.mkdir()
    with aliased(prefix) as (folder, alias):
        beside = folder / "target"
        beside.symlink_to(target.absolute())
        _pip_install(alias, [(pin, files[pin]) for pin in pins], folder, ("--target", beside))
    # They begin with the path of the alias.
    shutil.rmtree(target / "bin", ignore_errors=True)


def link_or_copy(source: str | Path, target: str | Path) -> None:
    """Make a hard link, or a copy if the two paths are on different file systems."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _tree(prefix: Path) -> set[str]:
    return {name for name, _ in walk(prefix) if not name.endswith((".pyc", ".pyo"))}


@contextmanager
def aliased(prefix: Path) -> Iterator[tuple[Path, Path]]:
    """Give a temporary folder for a prefix's pip, and in it a link to the prefix.

    Python 2.7's pip fails if the path of its prefix is not ASCII.
    """
    with tmp_folder() as folder:
        alias = folder / "prefix"
        alias.symlink_to(prefix.absolute())
        yield folder, alias


def environment(alias: Path, folder: Path) -> dict[str, str]:
    """Return the variables of a prefix's pip, which reads no settings and writes into a folder."""
    return reproducible.environment(
        folder,
        PATH=f"{alias / 'bin'}:/usr/bin:/bin",
        PIP_CONFIG_FILE=os.devnull,
        PIP_DISABLE_PIP_VERSION_CHECK="1",
    )


def _pip_install(
    prefix: Path,
    files: Sequence[tuple[IndexPin, Path]],
    folder: Path,
    options: Sequence[str | Path] = (),
) -> None:
    folder = Path(tempfile.mkdtemp(dir=folder))
    links = folder / "files"
    links.mkdir()
    for _, path in files:
        link_or_copy(path, links / path.name)
    requirements = folder / "requirements.txt"
    requirements.write_text(
        "".join(f"{pin.name}=={pin.version} --hash=sha256:{pin.sha256}\n" for pin, _ in files)
    )
    call(
        [
            prefix / "bin/python", "-m", "pip", "install", "--no-index", "--no-deps",
            "--require-hashes", "--no-build-isolation", "--no-cache-dir", "--no-compile",
            "--no-warn-script-location", "--find-links", links, "--requirement", requirements,
            *options,
        ],
        cwd=folder,
        env=environment(prefix, folder),
    )  # fmt: skip


def _make_relocatable(prefix: Path, names: Sequence[str], folders: Sequence[Path]) -> set[str]:
    """Make pip's scripts find the python beside them; return the names of those that are changed.

    Raises IntegrityError if any other file contains the path of one of the `folders`.
    """
    needles = [str(folder).encode() for folder in folders]
    scripts = set()
    for name in names:
        path = prefix / name
        data = path.read_bytes()
        if not any(needle in data for needle in needles):
            continue
        head = 3 if data.startswith(b"#!/bin/sh\n") else 1
        body = b"\n".join(data.split(b"\n")[head:])
        inside = any(needle in body for needle in needles)
        if not name.startswith("bin/") or not data.startswith(b"#!") or inside:
            raise IntegrityError(
                f"pip installed {name} with the path of its prefix in it",
                expected="a file that works in any prefix",
                fix="use a wheel instead of a source archive for this package",
            )
        path.unlink()
        path.write_bytes(SHEBANG.encode() + body)
        path.chmod(0o755)
        scripts.add(name)
    return scripts


def _correct_record(dist_info: Path, prefix: Path, scripts: Collection[str]) -> None:
    """Give a dist-info folder its normalised name; correct its RECORD for that and for scripts."""
    folder = normalised(dist_info, dist_info.name)
    rows = list(csv.reader(io.StringIO((folder / "RECORD").read_text(encoding="utf-8"))))
    for row in rows:
        if row[0].startswith(f"{dist_info.name}/"):
            row[0] = folder.name + row[0].removeprefix(dist_info.name)
        name = os.path.relpath(folder.parent / row[0], prefix)
        if name in scripts:
            data = (prefix / name).read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            row[1:] = [f"sha256={digest}", str(len(data))]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(sorted(rows))
    (folder / "RECORD").write_text(out.getvalue(), encoding="utf-8")
