"""A root of Debian with its own tools and the network, to install packages in."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from integration.bare_machine import PROXIES, give_network, packed_root


def unpack(folder: Path) -> Path:
    """Make the root in a folder; skip the test where that cannot be done."""
    root = folder / "root"
    root.mkdir()
    subprocess.run(["tar", "-C", root, "-xf", packed_root()], check=True)
    give_network(root)
    return root


def run(root: Path, command: str, mounts: Sequence[Path] = ()) -> tuple[int, str]:
    """Run a shell command as root in a root folder; return its status and output.

    mounts: folders of this machine that it sees at their own paths.
    """
    variables = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "COLUMNS": "300"}
    variables |= {name: os.environ[name] for name in PROXIES if name in os.environ}
    settings = [f"{name}={value}" for name, value in variables.items()]
    words = ["chroot", str(root), "env", "-i", *settings, "DEBIAN_FRONTEND=noninteractive"]
    lines = [shlex.join(["mount", "-t", "proc", "proc", f"{root}/proc"])]
    for path in mounts:
        (root / path.relative_to("/")).mkdir(parents=True, exist_ok=True)
        lines.append(shlex.join(["mount", "--bind", str(path), f"{root}{path}"]))
    lines.append(f"exec {shlex.join([*words, 'sh', '-c', command])}")
    done = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "sh", "-ec", "\n".join(lines)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=600,
    )
    return done.returncode, done.stdout
