"""What pip installs on top of the conda packages, kept in the cache to be linked next time."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from stacks.channel.staging.wheel import SHEBANG
from stacks.core import reproducible
from stacks.core.disk import aside, locked, scratch, sha256_of
from stacks.core.errors import IntegrityError
from stacks.core.process import call
from stacks.core.workspace import Workspace
from stacks.sources.fetch import fetch
from stacks.sources.pins import IndexPin


def key_of(conda_packages: Sequence[str], pins: Sequence[IndexPin]) -> str:
    """Return the name of a layer: the hash of all that decides its bytes."""
    code = [sha256_of(Path(file)) for file in (__file__, reproducible.__file__)]
    inputs = [code, sorted(conda_packages), [pin.sha256 for pin in pins]]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def wanted(workspace: Workspace, key: str, pins: Sequence[IndexPin]) -> tuple[IndexPin, ...]:
    """Return the files that pip will need: none where the cache has the layer."""
    return () if _place(workspace, key).is_dir() else tuple(pins)


def _place(workspace: Workspace, key: str) -> Path:
    return workspace.cache / "layers" / key


def add(workspace: Workspace, prefix: Path, key: str, pins: Sequence[IndexPin]) -> dict[str, str]:
    """Install the pinned files into a prefix and return the SHA-256 of each file by its path.

    Where the cache has the layer whole, its files are linked; else pip installs them, and they are
    kept. Raises FetchError, IntegrityError or CommandError (pip's own words).
    """
    layer = _place(workspace, key)
    with locked(layer, "the files that pip installs"):
        if layer.is_dir():
            manifest = _read(layer)
            if manifest is not None:
                _link(layer / "files", prefix, manifest)
                return manifest
            print(f"{layer}: damaged in the cache; installing with pip again", file=sys.stderr)
            shutil.rmtree(layer)
        files = fetch(workspace, pins)
        before = _tree(prefix)
        with scratch() as folder:
            # Python 2.7's pip fails where the path of its prefix is not ASCII.
            alias = folder / "prefix"
            alias.symlink_to(prefix.absolute())
            _pip_install(alias, [(pin, files[pin]) for pin in pins], folder)
        made = sorted(_tree(prefix) - before)
        _make_relocatable(prefix, made, (alias, prefix))
        manifest = {name: sha256_of(prefix / name) for name in made}
        with aside(layer) as folder:
            _link(prefix, folder / "files", manifest)
            (folder / "manifest.json").write_text(json.dumps(manifest, indent=0, sort_keys=True))
    return manifest


def _read(layer: Path) -> dict[str, str] | None:
    try:
        manifest: dict[str, str] = json.loads((layer / "manifest.json").read_bytes())
        whole = all(
            sha256_of(layer / "files" / name) == digest for name, digest in manifest.items()
        )
        # A damaged name can have become another file's: then one file is in no line.
        complete = _tree(layer / "files") == set(manifest)
    except (OSError, ValueError, AttributeError, TypeError):
        return None
    return manifest if whole and complete else None


def _link(source: Path, target: Path, manifest: Mapping[str, str]) -> None:
    for name in manifest:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        link_or_copy(source / name, target / name)


def link_or_copy(source: Path, target: Path) -> None:
    """Make a hard link, or a copy where the two places are on different file systems."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _tree(prefix: Path) -> set[str]:
    return {
        str(path.relative_to(prefix))
        for path in prefix.rglob("*")
        if (path.is_file() or path.is_symlink()) and path.suffix not in (".pyc", ".pyo")
    }


def _pip_install(prefix: Path, files: Sequence[tuple[IndexPin, Path]], room: Path) -> None:
    links = room / "files"
    links.mkdir()
    for _, path in files:
        link_or_copy(path, links / path.name)
    requirements = room / "requirements.txt"
    requirements.write_text(
        "".join(f"{pin.name}=={pin.version} --hash=sha256:{pin.sha256}\n" for pin, _ in files)
    )
    environment = reproducible.environment(
        room,
        PATH=f"{prefix / 'bin'}:/usr/bin:/bin",
        PIP_CONFIG_FILE=os.devnull,
        PIP_DISABLE_PIP_VERSION_CHECK="1",
    )
    call(
        [
            prefix / "bin/python", "-m", "pip", "install", "--no-index", "--no-deps",
            "--require-hashes", "--no-build-isolation", "--no-cache-dir", "--no-compile",
            "--no-warn-script-location", "--find-links", links, "--requirement", requirements,
        ],
        cwd=room,
        env=environment,
    )  # fmt: skip


def _make_relocatable(prefix: Path, names: Sequence[str], places: Sequence[Path]) -> None:
    """Let the scripts that pip wrote find the python beside them, as RECORD then says too.

    Raises IntegrityError where any other file has one of the `places` inside.
    """
    needles = [str(place).encode() for place in places]
    scripts = {}
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
                f"pip installed {name} with the path of its prefix inside",
                expected="a file that works in any prefix",
                fix="use a wheel instead of a source archive for this package",
            )
        path.unlink()
        path.write_bytes(SHEBANG.encode() + body)
        path.chmod(0o755)
        scripts[name] = path
    if scripts:
        for record in [prefix / n for n in names if n.endswith(".dist-info/RECORD")]:
            _correct(record, prefix, scripts)


def _correct(record: Path, prefix: Path, changed: Mapping[str, Path]) -> None:
    rows = list(csv.reader(io.StringIO(record.read_text(encoding="utf-8"))))
    for row in rows:
        name = os.path.relpath(record.parent.parent / row[0], prefix)
        if name in changed:
            data = changed[name].read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            row[1:] = [f"sha256={digest}", str(len(data))]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(sorted(rows))
    record.write_text(out.getvalue(), encoding="utf-8")
