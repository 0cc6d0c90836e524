"""conda itself, as a client of a channel: conda-lock carries its code.

That code calls itself by two names, so it is laid out here under its own alone.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from integration.programs import called

_VENDOR = "conda_lock._vendor"
_PROGRAM = "import sys; from conda.cli.main import main; sys.exit(main(*sys.argv[1:]))"
SECONDS = 120


@dataclass(frozen=True)
class Conda:
    """conda's code, and a folder for its home, cache and settings."""

    code: Path
    home: Path

    def run(
        self, *words: str | Path, variables: Mapping[str, str] = {}
    ) -> subprocess.CompletedProcess[str]:
        """Run a command of conda with the classic solver and return its result."""
        return called(
            [sys.executable, "-c", _PROGRAM, *map(str, words)],
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.home),
                "PYTHONPATH": str(self.code),
                "LC_ALL": "C.UTF-8",
                "CONDARC": os.devnull,
                "CONDA_SOLVER": "classic",
                # Its default has no wheel.
                "CONDA_SAT_SOLVER": "pysat",
                "CONDA_PKGS_DIRS": str(self.home / "packages"),
                "CONDA_ENVS_PATH": str(self.home / "environments"),
                "CONDA_NUMBER_CHANNEL_NOTICES": "0",
                "CONDA_REPORT_ERRORS": "false",
                "CONDA_REMOTE_MAX_RETRIES": "1",
                **variables,
            },
            timeout=SECONDS,
        )

    def succeed(self, *words: str | Path, variables: Mapping[str, str] = {}) -> str:
        """Run a command that must succeed and return what it prints."""
        done = self.run(*words, variables=variables)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def lay_out(code: Path) -> None:
    """Copy conda's code into a folder for PYTHONPATH."""
    spec = find_spec(_VENDOR)
    assert spec and spec.submodule_search_locations
    source = Path(spec.submodule_search_locations[0]) / "conda"
    shutil.copytree(source, code / "conda", ignore=shutil.ignore_patterns("__pycache__"))
    for path in code.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if _VENDOR in text:
            text = text.replace(f"{_VENDOR}.conda", "conda")
            path.write_text(text, encoding="utf-8")


def names(place: Path) -> set[str]:
    """Return the names of the packages that are installed in an environment."""
    return {json.loads(path.read_text())["name"] for path in (place / "conda-meta").glob("*.json")}
