"""A machine with a checkout and few programs, on which ./invoke is started."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stacks.core.disk import REPOSITORY
from unit.helpers.environments import add

TOOLS = ("cat", "dirname", "mv", "readlink", "rm")

# Stands for Python: a venv that it makes has, for pip, a program that installs a small invoke.
PYTHON = """#!/bin/sh
if [ "$2 $3" = "-m venv" ]; then
    "{python}" -I -m venv --without-pip "$6"
    exec cp "{root}/pip.py" "{root}/ensurepip.pth" "$6"/lib/python*/site-packages/
fi
exec "{python}" "$@"
"""

PIP = """
import pathlib, sys
root, here = pathlib.Path({root!r}), pathlib.Path(__file__).parent
with (root / "installs").open("a") as log:
    log.write(" ".join(sys.argv[1:]) + chr(10))
if (root / "gate").exists():
    (root / "gate").open().read()
for line in open(sys.argv[-1]):
    name = line.split("==")[0]
    if name == "invoke" and (root / "broken").exists():
        sys.exit((root / "broken").read_text())
    if line[0].isalpha():
        (here / name).mkdir()
        (here / name / "__init__.py").touch()
"""

# In place of Python's own pip, which would hide that one.
ENSUREPIP = """\
import sys, types; found = types.ModuleType("ensurepip"); found.bootstrap = lambda: None; \
sys.modules["ensurepip"] = found
"""

PROGRAM = """
import json, os, pathlib, sys
import invoke

def main():
    checkout = str(pathlib.Path(__file__).parents[2])
    print(json.dumps([os.getcwd(), checkout, sys.argv[1:]]))
"""


class Machine:
    """A machine with a checkout, and with nothing on PATH but what the tests put there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bin = root / "bin"
        self.checkout = root / "a checkout, naïve é"
        self.checkout.mkdir(parents=True)
        self.bin.mkdir()
        for tool in (*TOOLS, "sh", "cp"):
            (self.bin / tool).symlink_to(str(shutil.which(tool)))
        for name in ("invoke", "verify/core/surroundings.py"):
            (self.checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, self.checkout / name)
        self.lock = self.checkout / "requirements.lock"
        self.lock.write_text("invoke==1\n")
        (self.checkout / "stacks/tasks").mkdir(parents=True)
        (self.checkout / "stacks/tasks/program.py").write_text(PROGRAM)
        (root / "pip.py").write_text(PIP.format(root=str(root)))
        (root / "ensurepip.pth").write_text(ENSUREPIP)

    def program(self, name: str, text: str) -> None:
        add(self.bin, name, text, 0o755)

    def python(self, name: str = "python3") -> None:
        self.program(name, PYTHON.format(python=sys.executable, root=self.root))

    def start(
        self, *arguments: str, program: Path | None = None, **variables: str
    ) -> subprocess.Popen[str]:
        words: list[str | Path] = [program or self.checkout / "invoke", *arguments]
        pipe, env = subprocess.PIPE, {"PATH": str(self.bin), **variables}
        return subprocess.Popen(
            words, cwd=self.root, env=env, stdout=pipe, stderr=pipe, encoding="utf-8",
            start_new_session=True,
        )  # fmt: skip

    def run(self, *arguments: str, **options: Any) -> tuple[int, str, str]:
        process = self.start(*arguments, **options)
        out, err = process.communicate()
        return process.returncode, out, err

    @contextmanager
    def held(self) -> Iterator[subprocess.Popen[str]]:
        """Start ./invoke; give it once its pip runs, which waits until the block ends."""
        gate = self.root / "gate"
        os.mkfifo(gate)
        first = self.start()
        with gate.open("w"):
            gate.unlink()
            yield first

    def installs(self) -> int:
        log = self.root / "installs"
        return len(log.read_text().splitlines()) if log.exists() else 0
