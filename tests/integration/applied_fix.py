"""A printed fix, applied word for word, as its reader would."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path


def applied(fix: str, variables: dict[str, str], home: Path) -> dict[str, str]:
    """Apply a fix: change files below `home`, or run its command; return the new variables."""
    for step in re.split(r", then |\n(?=remove |install |in |put )", fix):
        variables = _step(step, variables, home)
    return variables


def _step(step: str, variables: dict[str, str], home: Path) -> dict[str, str]:
    if match := re.fullmatch(r"(?:.*; )?remove ([^\s=]+)(?:=.*)? from (\w+)( and from \S+)?", step):
        return _without_flag(match[2], match[1], variables)
    if match := re.search(r"LD_PRELOAD comes before .*: remove (\S+) from it$", step):
        return _without_part("LD_PRELOAD", match[1], variables)
    if match := re.search(r"(?:^unset (\w+)|^(\w+)=\S+ selects these kernels: unset it)$", step):
        return {name: variables[name] for name in variables if name not in match.groups()}
    if match := re.fullmatch(r"set this before Python starts:\nexport (\w+)=(\S+)", step):
        return {**variables, match[1]: match[2]}
    if match := re.search(r"in (\S+), put (\w+) = (.*)$", step):
        path = _path(match[1], home)
        text = re.sub(rf"(?m)^{match[2]}\b.*$", f"{match[2]} = {match[3]}", path.read_text())
    elif match := re.search(r"put this line into (\S+), below (\[\w+\]):\n(.*)$", step):
        path = _path(match[1], home)
        text = path.read_text().replace(match[2], f"{match[2]}\n{match[3]}")
    elif match := re.search(r"put [a-z' ]+ into (\S+):\n((?:.|\n)*)$", step):
        path = _path(match[1], home)
        text = (path.read_text() if path.exists() else "") + f"\n{match[2]}\n"
    elif match := re.fullmatch(r"remove from (\S+):\n\[\w+\]\n(\w+) = .*", step):
        path = _path(match[1], home)
        text = re.sub(rf"(?m)^{match[2]}\b.*$", "", path.read_text())
    elif match := re.fullmatch(r"(?:install |remove them, )[^\n]*:\n(.*)", step):
        subprocess.run(["/bin/sh", "-c", match[1]], check=True, env={**os.environ, **variables})
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


def _without_part(variable: str, part: str, variables: dict[str, str]) -> dict[str, str]:
    kept = [each for each in variables[variable].split(":") if each != part]
    return {**variables, variable: ":".join(kept)}
