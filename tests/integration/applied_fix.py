"""Printed fixes, applied word for word, as their reader would."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from integration.checking import checked

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


def applied(
    fix: str,
    variables: dict[str, str],
    home: Path,
    run: Callable[[str, dict[str, str]], None] | None = None,
) -> dict[str, str]:
    """Apply a fix: change files below `home`, or run its command; return the new variables.

    run: what runs a command, with variables; by default the shell.
    """
    for step in NEXT.split(fix):
        variables = _step(step, variables, home, run or _run)
    return variables


def _run(command: str, variables: dict[str, str]) -> None:
    subprocess.run(["/bin/sh", "-c", command], check=True, env={**os.environ, **variables})


def _step(
    step: str, variables: dict[str, str], home: Path, run: Callable[[str, dict[str, str]], None]
) -> dict[str, str]:
    if match := re.fullmatch(r"(?:.*; )?remove ([^\s=]+)(?:=.*)? from (\w+)", step):
        return _without_flag(match[2], match[1], variables)
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
        run(match[1], variables)
        return variables
    else:
        raise AssertionError(f"nobody can apply this word for word: {step}")
    path.write_text(text)
    return variables


def _path(name: str, home: Path) -> Path:
    path = home / name.removeprefix("~/")
    assert home in path.parents, f"{path} is not the test's own"
    return path


def _without_flag(variable: str, flag: str, variables: dict[str, str]) -> dict[str, str]:
    flags = re.split(r"(?<!\\),", variables.get(variable, ""))
    kept = [each for each in flags if each and each.partition("=")[0] != flag]
    return {**variables, variable: ",".join(kept)}
