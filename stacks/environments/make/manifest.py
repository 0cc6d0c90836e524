"""The list of an environment's files, by which it proves that none has changed since.

Line 1: {"schema": 1, "sha256": that of all bytes below}. Line 2: {path: entry}, where an entry is
["file", mode in octal, size in bytes, SHA-256] or ["link", target]. verify/ reads it.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from stacks.channel.settings_files import FOLDER
from stacks.core import cores
from stacks.core.disk import sha256_of, write_atomically
from stacks.environments.folders import READY
from stacks.environments.make import contents
from stacks.environments.make.contents import CheckedFile

NAME = f"{FOLDER}/files.json"
SCHEMA = 1
# What changes in an environment that is used: compiled modules, a conda client's log.
CHANGING = ("var/", "conda-meta/history")

# As the text above says.
Row = list[str | int]


def write_manifest(*folders: Path, checked: Mapping[str, CheckedFile] | None = None) -> None:
    """Write the list of the files that are now in an environment, into the last of its folders.

    An image's environment lies in several folders, one for each layer. checked: files whose bytes
    were compared with their packages just now; unless written since, they are not read again.
    """
    known = checked or {}
    found = [
        (folder, name, status)
        for folder in folders
        for name, status in contents.walk(folder)
        if not name.startswith(CHANGING) and name not in (NAME, READY)
    ]
    with ThreadPoolExecutor(cores.affine()) as pool:
        entries = pool.map(
            lambda each: _entry(each[0] / each[1], each[2], known.get(each[1])), found
        )
        files = {name: entry for (_, name, _), entry in zip(found, entries, strict=True)}
    body = json.dumps(files, sort_keys=True) + "\n"
    head = json.dumps({"schema": SCHEMA, "sha256": hashlib.sha256(body.encode()).hexdigest()})
    write_atomically(folders[-1] / NAME, f"{head}\n{body}")


def differences(prefix: Path, sound: Path) -> dict[str, str]:
    """Return what is wrong with the files of a folder that the manifest of another one lists.

    "missing" or "changed", by path.
    """
    listed: dict[str, Row] = json.loads((sound / NAME).read_bytes().split(b"\n")[1])
    present = dict(contents.walk(prefix))
    names = sorted(listed)

    def fault(name: str) -> str | None:
        if name not in present:
            return "missing"
        try:
            return None if _entry(prefix / name, present[name]) == listed[name] else "changed"
        except OSError:
            # A repair replaces what cannot be read.
            return "changed"

    with ThreadPoolExecutor(cores.affine()) as pool:
        return {n: text for n, text in zip(names, pool.map(fault, names), strict=True) if text}


def _entry(path: Path, status: os.stat_result, checked: CheckedFile | None = None) -> Row:
    if stat.S_ISLNK(status.st_mode):
        return ["link", os.readlink(path)]  # noqa: PTH115 - as it is written, not normalised
    if not stat.S_ISREG(status.st_mode):
        return ["other"]
    digest = checked.sha256 if checked and checked.is_still(status) else sha256_of(path)
    return ["file", f"{stat.S_IMODE(status.st_mode):o}", status.st_size, digest]
