"""Chosen checks of the suite, run in an environment that a test has broken."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import NamedTuple

from integration.programs import result
from stacks.core.disk import REPOSITORY
from stacks.environments.make.settings import EXPECTATION

DRIVER = Path(__file__).with_name("verify_driver.py")


class CheckResult(NamedTuple):
    """The result of one check."""

    name: str
    status: str
    detail: str
    fix: str | None


def checked(
    prefix: Path, *names: str, expect: Path | str | None = "own", **variables: str
) -> list[CheckResult]:
    """Run checks with an environment's interpreter; `expect` None is a diagnosis."""
    path = prefix / EXPECTATION if expect == "own" else expect
    rows = result(prefix, DRIVER, REPOSITORY / "verify", path or "-", *names, **variables)
    return [CheckResult(*row) for row in rows]


def virtual_environment(base: Path, place: Path) -> Path:
    """Make a virtual environment that also has an environment's packages; return its folder."""
    words = ["-m", "venv", "--system-site-packages", "--without-pip"]
    subprocess.run([base / "bin/python", *words, place], check=True)
    return place


def edited(good: Path, folder: Path, **changes: object) -> Path:
    """Return an expectation file like the environment's own, with some keys changed."""
    content = json.loads((good / EXPECTATION).read_text())
    content.update(changes)
    path = folder / "expect.json"
    path.write_text(json.dumps(content))
    return path


def compiled(prefix: Path, folder: Path, name: str, source: str, language: str = "c++") -> Path:
    """Compile a shared library from source text with an environment's compiler."""
    path, text = folder / name, folder / "source.cpp"
    text.write_text(source)
    flags = ("-O1", "-w", "-shared", "-fPIC", "-pthread", "-x", language)
    words: list[str | Path] = [prefix / "bin/g++", *flags, text, "-o", path]
    subprocess.run(words, check=True)
    return path


def look(place: Path, *words: str, **variables: str) -> tuple[str, str]:
    """Return the status and the detail of the check that the device is there."""
    [check] = checked(place, "device", *words, **variables)
    assert check.name == "device"
    return check.status, check.detail


def exit_status(place: Path, **variables: str) -> int:
    """Return that of the suite where the device is all that it looks at."""
    words = (DRIVER, REPOSITORY / "verify", place / EXPECTATION, "device program")
    status: int = result(place, *words, **variables)
    return status
