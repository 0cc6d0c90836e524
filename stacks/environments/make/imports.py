"""One import of each package that a stack.yaml asks for: a lock cannot promise that it works."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from stacks.core import cores
from stacks.core.disk import scratch
from stacks.core.process import CommandError, call
from stacks.environments.variables import environment
from stacks.variants.variant import Variant

# Seconds for one import: some compile functions then.
LIMIT = 600.0
# What some distributions install beside their package by mistake.
UNIMPORTANT = {"test", "tests", "doc", "docs", "example", "examples", "benchmarks", "setup"}
MISSING = re.compile(r"No module named '?([\w.]+)'?")


def warnings(variant: Variant, prefix: Path) -> list[str]:
    """Return a line for each requested package that cannot be imported, with the reason.

    prefix: the variant's environment. Packages without Python modules are left out.
    """
    site = prefix / f"lib/python{variant.framework.python}/site-packages"
    requested = {Requirement(text).name: _of_pip(site) for text in variant.requests}
    for spec in variant.declared.get("packages", ()):
        if match := re.match(r"[\w.-]+", spec):
            requested[match[0]] = _of_conda(prefix, match[0])
    modules = {
        name: found
        for name, files_by_name in requested.items()
        if (found := modules_of(name, files_by_name.get(canonicalize_name(name), ())))
    }
    with scratch() as folder, ThreadPoolExecutor(cores.usable()) as pool:
        reasons = pool.map(lambda names: _reason(prefix, names, folder), modules.values())
        return [
            f"warning: {name} cannot be imported: {reason}"
            for name, reason in zip(modules, reasons, strict=True)
            if reason
        ]


def modules_of(name: str, files: Iterable[str]) -> list[str]:
    """Return the names by which a distribution is imported: its own, if one of them has it.

    files: the paths that it installs, from site-packages.
    """
    tops: dict[str, list[str]] = {}
    for path in map(PurePosixPath, files):
        if path.suffix not in (".py", ".so"):
            continue
        is_package = path.stem == "__init__" and len(path.parts) > 1
        parts = path.parts[:-1] if is_package else (*path.parts[:-1], path.name.partition(".")[0])
        # A namespace is a folder of packages, and not one itself.
        is_module = all(map(str.isidentifier, parts)) and (is_package or len(parts) == 1)
        if is_module and parts[0][0] != "_" and parts[0].lower() not in UNIMPORTANT:
            tops.setdefault(parts[0], []).append(".".join(parts))
    found = {top: min(names, key=lambda each: each.count(".")) for top, names in tops.items()}
    plain = canonicalize_name(name).replace("-", "_")
    return [found[top] for top in found if top.lower() == plain] or sorted(found.values())


def _of_pip(site: Path) -> dict[str, list[str]]:
    """Return the files of each distribution in a folder, by its canonical name."""
    found: dict[str, list[str]] = {}
    for record in site.glob("*.dist-info/RECORD"):
        name = canonicalize_name(record.parent.name.split("-")[0])
        with record.open(encoding="utf-8", errors="replace", newline="") as file:
            found[name] = [row[0] for row in csv.reader(file) if row]
    return found


def _of_conda(prefix: Path, name: str) -> dict[str, list[str]]:
    """Return the files in site-packages of a conda package, by its canonical name."""
    for path in (prefix / "conda-meta").glob(f"{name}-*.json"):
        record = json.loads(path.read_bytes())
        if record["name"] == name:
            files = [file.partition("/site-packages/")[2] for file in record["files"]]
            return {canonicalize_name(name): list(filter(None, files))}
    return {}


def _reason(prefix: Path, modules: Sequence[str], folder: Path) -> str | None:
    """Return why modules cannot be imported in an environment, None if they can."""
    program = "; ".join(f"import {name}" for name in modules)
    words: list[str | Path] = [prefix / "bin/python", "-c", program]
    try:
        # An empty folder: Python would import the user's files of these names.
        call(words, cwd=folder, env=environment(prefix), limit=LIMIT)
    except CommandError as error:
        missing = MISSING.search(error.last_line)
        fix = f"; add what has the module {missing[1]} to `pip:`" if missing else ""
        return error.last_line + fix
    return None
