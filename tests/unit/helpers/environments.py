"""Small environments with a manifest, as the builder makes them, and manifests of real ones."""

import json
import os
import select
import subprocess
import sys
from pathlib import Path, PurePath

from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.environments.folders import READY, folder_of, key_of, mark
from stacks.environments.make.contents import write_manifest
from stacks.locks import lock
from stacks.variants.variant import Variant

MANIFEST = "etc/theano-stacks/files.json"
EXPECTATION = "etc/theano-stacks/expect.json"
SITE_PACKAGES = "lib/python3.9/site-packages"
PROGRAM = "print('a program')\n"


def environment(prefix: Path) -> Path:
    """Make an environment of a few files in a folder; return the folder."""
    for name, text in {
        "bin/python": PROGRAM,
        "lib/libz.so.1": "a library",
        f"{SITE_PACKAGES}/numpy/__init__.py": "__version__ = '1.22.4'\n",
        f"{SITE_PACKAGES}/numpy-1.22.4.dist-info/RECORD": "numpy/__init__.py,,\n",
        f"{SITE_PACKAGES}/numpy-1.22.4.dist-info/INSTALLER": "conda\n",
        "conda-meta/numpy-1.22.4-0.json": "{}",
        "conda-meta/history": "",
        EXPECTATION: json.dumps(expectation()),
    }.items():
        add(prefix, name, text, 0o555)
    (prefix / "lib/libz.so").symlink_to("libz.so.1")
    (prefix / "var/compiledir").mkdir(parents=True)
    write_manifest(prefix)
    return prefix


def add(folder: Path, name: str | PurePath, content: str | bytes = "", mode: int = 0o644) -> Path:
    """Write a file, with the folders that it is in, in place of any before; return its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    path.chmod(mode)
    return path


def linked(path: Path, target: str | Path) -> None:
    path.unlink()
    path.symlink_to(target)


def expectation() -> dict[str, object]:
    """Return the content of the environment's expectation file."""
    package = {"name": "numpy", "version": "1.22.4", "sha256": "00", "manager": "conda"}
    return {
        "schema": 1,
        "variant": "openblas",
        "framework": "theano-1.0.5",
        "module": "theano",
        "version": "1.0.5",
        "python": "3.9.2",
        "baseline": False,
        "blas": None,
        "floatX": "float64",
        "flags": {},
        "packages": [package],
    }


def mark_built(workspace: Workspace, variant: Variant, key: str = "") -> Path:
    """Write the marker of an environment that is built from its lock, or has another key."""
    target = folder_of(workspace, variant)
    key = key or key_of(workspace, variant, lock.read(workspace, variant), target)
    (target / READY).parent.mkdir(parents=True, exist_ok=True)
    (target / READY).write_text(mark(key, {}))
    return target


# Seconds on a busy machine.
IMPORT_LIMIT = 60


def _slow_environment(folder: Path) -> Path:
    """Make an environment with this Python, whose framework takes a minute to import."""
    prefix = environment(folder / "environment")
    add(prefix, "bin/python", f'#!/bin/sh\nexec {sys.executable} "$@"\n', 0o555)
    assert (prefix / EXPECTATION).is_file()
    for module in ("theano", "pytensor"):
        text = "import time\npipe = open('pipe', 'w')\npipe.write('imported')\npipe.flush()\n"
        text += "time.sleep(60)"
        add(folder, f"modules/{module}/__init__.py", text)
    return prefix


def kill_during_import(folder: Path, code: str) -> None:
    """Run code of a tool, kill it when the framework is imported, wait for all programs to end.

    Its argument is a slow environment. folder: an empty one, which it works in.
    """
    prefix = _slow_environment(folder)
    os.mkfifo(folder / "pipe")
    path = f"{folder / 'modules'}:{REPOSITORY}:{REPOSITORY / 'tests'}"
    with (
        subprocess.Popen(
            [sys.executable, "-c", code, prefix],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path, "TMPDIR": str(folder)},
            stderr=subprocess.PIPE,
        ) as tool,
        os.fdopen(os.open(folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)) as pipe,
    ):
        assert select.select([pipe], [], [], IMPORT_LIMIT)[0], "the framework is never imported"
        assert pipe.read() == "imported"
        tool.kill()
        # All programs that do not capture it have the writing end.
        tool.communicate(timeout=10)
        # The program that imports has the only writing end.
        assert select.select([pipe], [], [], 10)[0], "a program outlives its tool"
