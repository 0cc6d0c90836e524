"""Chosen checks of the suite in an environment that a test has broken, and printed fixes.

Fixes are applied word for word, as their reader would.
"""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Mapping
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


# Where one step of a fix ends and the next begins.
NEXT = re.compile(r", then |\n(?:then )?(?=remove |install |in |put )")


def apply_fixes(
    place: Path, checks: Mapping[str, str], home: Path, expect: Path | str | None, **variables: str
) -> list[str]:
    """Apply the fixes of the checks that fail, after which all must pass; return the fixes.

    checks: what each says of the fault, in part; empty for one that may pass.
    """
    found = checked(place, *checks, expect=expect, HOME=str(home), **variables)
    for check, detail in zip(found, checks.values(), strict=True):
        assert not detail or (check.status == "fail" and detail in check.detail), check
    fixes = list(dict.fromkeys(check.fix for check in found if check.status == "fail"))
    assert fixes, found
    for fix in fixes:
        assert fix
        variables = applied(fix, variables, home)
    found = checked(place, *checks, expect=expect, HOME=str(home), **variables)
    assert [check for check in found if check.status == "fail"] == [], fixes
    return [fix or "" for fix in fixes]


def applied(fix: str, variables: dict[str, str], home: Path) -> dict[str, str]:
    """Apply a fix: change files below `home`, or run its command; return the new variables."""
    for step in NEXT.split(fix):
        variables = _step(step, variables, home)
    return variables


def _step(step: str, variables: dict[str, str], home: Path) -> dict[str, str]:
    if match := re.fullmatch(r"(?:.*; )?remove ([^\s=]+)(?:=.*)? from (\w+)", step):
        flags = re.split(r"(?<!\\),", variables.get(match[2], ""))
        kept = [each for each in flags if each and each.partition("=")[0] != match[1]]
        return {**variables, match[2]: ",".join(kept)}
    if match := re.fullmatch(r"(?:[^\n]*:\n)?unset (\w+)", step):
        return {name: variables[name] for name in variables if name != match[1]}
    if match := re.fullmatch(r"(?:[^\n]*:\n)?export (\w+)=(.*)", step):
        return {**variables, match[1]: "".join(shlex.split(match[2]))}
    if match := re.fullmatch(r"(?:[^\n]*; )?in (\S+), put (\w+) = (.*)", step):
        path = _path(match[1], home)
        text = re.sub(rf"(?m)^{match[2]}\b.*$", f"{match[2]} = {match[3]}", path.read_text())
    elif match := re.search(r"put this line into (\S+), below (\[\w+\]):\n(.*)$", step):
        path = _path(match[1], home)
        text = path.read_text().replace(match[2], f"{match[2]}\n{match[3]}")
    elif match := re.search(r"put these lines into (\S+):\n((?:.|\n)*)$", step):
        path = _path(match[1], home)
        text = (path.read_text() if path.exists() else "") + f"\n{match[2]}\n"
    elif match := re.fullmatch(r"remove from (\S+):\n\[\w+\]\n(\w+) = .*", step):
        path = _path(match[1], home)
        text = re.sub(rf"(?m)^{match[2]}\b.*$", "", path.read_text())
    elif match := re.fullmatch(
        r"(?:[^\n]*(?:install |remove them, )[^\n]*:\n|(?='?/.* -m pip install ))(.*)", step
    ):
        env = {**os.environ, **variables}
        subprocess.run(["/bin/sh", "-c", match[1]], check=True, env=env)
        return variables
    else:
        raise AssertionError(f"nobody can apply this word for word: {step}")
    path.write_text(text)
    return variables


def _path(name: str, home: Path) -> Path:
    path = home / name.removeprefix("~/")
    assert home in path.parents, f"{path} is not the test's own"
    return path
