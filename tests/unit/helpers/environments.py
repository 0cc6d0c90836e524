"""Small environments with a manifest, as the builder makes them, and manifests of real ones."""

from __future__ import annotations

import json
from pathlib import Path

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


def add(prefix: Path, name: str, text: str = "", mode: int = 0o644) -> Path:
    """Write a file of an environment, in place of any before; return its path."""
    path = prefix / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


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
