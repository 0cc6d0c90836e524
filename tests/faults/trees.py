"""What is in a folder, to compare before and after; damage to bytes; processes of a trial."""

import hashlib
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

BYTECODE = (".pyc", ".pyo")

# {relative path: (kind, permission bits, SHA-256 or target)}
Tree = dict[str, tuple[str, int, str]]


def tree(root: Path) -> Tree:
    """Return kind, permission bits, and SHA-256 or target of each path below a folder."""
    entries: Tree = {}
    for path in sorted(root.rglob("*")):
        if path.suffix in BYTECODE or path.name == "__pycache__":
            continue
        status = path.lstat()
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISLNK(status.st_mode):
            entry = ("link", 0, os.readlink(path))  # noqa: PTH115 - the text, unchanged
        elif stat.S_ISREG(status.st_mode):
            entry = ("file", mode, hashlib.sha256(path.read_bytes()).hexdigest())
        else:
            entry = ("folder" if stat.S_ISDIR(status.st_mode) else "other", mode, "")
        entries[str(path.relative_to(root))] = entry
    return entries


def differences(found: Tree, expected: Tree) -> list[str]:
    """Return one line for each path that is missing, extra or changed."""
    return [
        f"{name}: {_entry(expected.get(name))} became {_entry(found.get(name))}"
        for name in sorted({*found, *expected})
        if found.get(name) != expected.get(name)
    ]


def _entry(entry: tuple[str, int, str] | None) -> str:
    return f"{entry[0]} {entry[1]:o} {entry[2][:12]}".strip() if entry else "nothing"


def names_in(folder: Path) -> frozenset[str]:
    """Return the relative names of what is in a folder, but for locks and bytecode.

    A folder with nothing but locks counts as these do: they stay, so that two cannot differ.
    """
    return frozenset(
        str(path.relative_to(folder)) for path in folder.rglob("*") if not _is_for_locks(path)
    )


def _is_for_locks(path: Path) -> bool:
    if path.is_symlink() or not path.is_dir():
        return path.suffix in (".lock", ".used", *BYTECODE)
    within = list(path.iterdir())
    return bool(within) and all(_is_for_locks(each) for each in within)


def remove(path: Path) -> None:
    """Remove a file or a tree, whatever its modes are."""
    if path.is_dir() and not path.is_symlink():
        for folder in (path, *(p for p in path.rglob("*") if p.is_dir() and not p.is_symlink())):
            folder.chmod(0o700)
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def processes_of(root: Path) -> Iterator[tuple[int, str]]:
    """Yield number and command of each process that works for the room in a folder."""
    needle = f"FAULT_ROOT={root}".encode()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            found = needle in (folder / "environ").read_bytes().split(b"\0")
            command = (
                (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            )
            is_zombie = (folder / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            continue
        if found and not is_zombie:
            yield int(folder.name), command


def ended_within(
    seconds: float, left: Callable[[], Sequence[tuple[int, str]]]
) -> Sequence[tuple[int, str]]:
    """Return the processes that are left after so many seconds, sooner if there are none."""
    end = time.monotonic() + seconds
    while (processes := left()) and time.monotonic() < end:
        time.sleep(0.02)
    return processes


def broken(random: Random, data: bytes, way: str) -> bytes:
    """Return other bytes: with flipped bits, cut off, longer, all garbage, or none at all."""
    if way == "flip":
        changed = bytearray(data or b"\0")
        # An odd number of bits: they cannot all be flipped back.
        for _ in range(random.choice((1, 1, 3, 21))):
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
        return bytes(changed)
    if way == "cut":
        return data[: random.randrange(len(data))] if data else b"\0"
    if way == "append":
        return data + random.choice((b"\n", b"\0" * 4096, b"x" * 10, b"}"))
    if way == "garbage":
        return random.randbytes(random.choice((1, 100, 10_000)))
    return b"" if data else b"\0"
