"""conda itself, as a client of a channel: conda-lock carries its code.

That code calls itself by two names, so it is laid out here under its own alone.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_VENDOR = "conda_lock._vendor"
_PROGRAM = "import sys; from conda.cli.main import main; sys.exit(main(*sys.argv[1:]))"
SECONDS = 120


@dataclass(frozen=True)
class Conda:
    """conda with a home, a cache and settings of its own, all below one folder."""

    root: Path

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a command of conda with the classic solver and return its result."""
        return subprocess.run(
            [sys.executable, "-c", _PROGRAM, *map(str, words)],
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.root / "home"),
                "PYTHONPATH": str(self.root / "code"),
                "PYTHONDONTWRITEBYTECODE": "1",
                "LC_ALL": "C.UTF-8",
                "CONDARC": os.devnull,
                "CONDA_SOLVER": "classic",
                "CONDA_PKGS_DIRS": str(self.root / "home/packages"),
                "CONDA_ENVS_PATH": str(self.root / "home/environments"),
                "CONDA_NUMBER_CHANNEL_NOTICES": "0",
                "CONDA_REPORT_ERRORS": "false",
                "CONDA_REMOTE_MAX_RETRIES": "1",
            },
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def json(self, *words: str | Path) -> Any:
        """Run a command that must succeed and return its answer."""
        done = self.run(*words, "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)


def lay_out(root: Path) -> Conda:
    """Copy conda's code below a folder, and return it as a program."""
    spec = find_spec(_VENDOR)
    assert spec and spec.submodule_search_locations
    source, code = Path(spec.submodule_search_locations[0]) / "conda", root / "code/conda"
    shutil.copytree(source, code, ignore=shutil.ignore_patterns("__pycache__"))
    for path in code.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if _VENDOR in text:
            text = text.replace(f"{_VENDOR}.conda", "conda").replace(f"{_VENDOR}.", "")
            path.write_text(text.replace(f"from {_VENDOR} import", "import"), encoding="utf-8")
    (root / "home").mkdir()
    return Conda(root)
