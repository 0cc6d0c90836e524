"""Files that the project wrote itself and that may be damaged since: JSON, lists of digests.

The lists are as sha256sum prints them.
"""

import json
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

from stacks.core.disk import explain_disk_errors, sha256_of
from stacks.core.errors import UsageError
from stacks.core.paths import check_working_folder, is_dir


def digests_text(digests: Mapping[str, str]) -> str:
    """Return the list of SHA-256 digests by path, sorted by path."""
    return "".join(f"{digest}  {path}\n" for path, digest in sorted(digests.items()))


def list_folder(folder: Path) -> str:
    """Return the list of a folder's files."""
    return digests_text({name: sha256_of(path) for name, path in list_files(folder).items()})


def check_rewritable(folder: Path, name: str, what: str) -> None:
    """Raise UsageError unless a folder is new, empty, or has the list of digests of this name.

    what: what such a folder is, for the message.
    """
    check_working_folder(folder)
    rewritable = is_dir(folder) and ((folder / name).is_file() or not any(folder.iterdir()))
    if folder.exists() and not rewritable:
        raise UsageError(f"{folder} is there and is no {what}", fix="choose an empty or new folder")


def parse_digests(text: str) -> dict[str, str]:
    """Return the digests of a list by path; a damaged line gives a path that no folder has."""
    return {line[66:]: line[:64] for line in text.splitlines()}


def list_files(folder: Path) -> dict[str, Path]:
    """Return the files below a folder by their paths in it, sorted; a link counts as a file."""
    with explain_disk_errors(folder):
        return {
            str(path.relative_to(folder)): path
            for path in sorted(folder.rglob("*"))
            if path.is_symlink() or not path.is_dir()
        }


def differences(
    expected: Mapping[str, str], present: Mapping[str, Path], programs: Set[str] = frozenset()
) -> str:
    """Return lines that name each file that is changed, missing or not expected; empty if none is.

    expected: digests by path. present: files by path; a link is a changed file. programs: the paths
    of those that must be executable.
    """
    faults = [f"{path}: missing" for path in expected.keys() - present.keys()]
    faults += [f"{path}: not part of it" for path in present.keys() - expected.keys()]
    faults += [
        f"{path}: changed"
        for path in expected.keys() & present.keys()
        if present[path].is_symlink() or sha256_of(present[path]) != expected[path]
    ]
    faults += [
        f"{path}: not executable (chmod 755)"
        for path in programs & present.keys()
        if not present[path].lstat().st_mode & 0o100
    ]
    return "\n".join(f"  - {fault}" for fault in sorted(faults))


# Far above the largest record of a package with 20,000 files.
MAX_MEBIBYTES = 32


def read_json(path: Path) -> Any:
    """Return a JSON file's content.

    Raises OSError, or ValueError if the file is not JSON, too large, or too deeply nested.
    """
    with path.open("rb") as file:
        data = file.read((MAX_MEBIBYTES << 20) + 1)
    if len(data) > MAX_MEBIBYTES << 20:
        raise ValueError(f"more than {MAX_MEBIBYTES} MiB")
    return parse_json(data)


def parse_json(data: bytes | str) -> Any:
    """Return the value in JSON; ValueError if it is not JSON or too deeply nested."""
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("too deeply nested") from None
