"""The packages that a user asks for or adds: whether they import, and what a new build keeps."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path, PurePosixPath

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from stacks.core import cores
from stacks.core.disk import scratch
from stacks.core.errors import StacksError
from stacks.core.process import CommandError, call
from stacks.environments.make import contents, settings
from stacks.environments.make.pip_install import link_or_copy
from stacks.environments.programs import OWN_PYTHON, SUITE, environment
from stacks.variants.variant import Variant

# Seconds for one import: some compile functions then.
LIMIT = 600.0
# What some distributions install beside their package by mistake.
UNIMPORTANT = {"test", "tests", "doc", "docs", "example", "examples", "benchmarks", "setup"}
MISSING = re.compile(r"No module named '?([\w.]+)'?")


@dataclass(frozen=True)
class Addition:
    """A package that a user has added: its installer, and its files as paths in the environment."""

    name: str
    version: str
    installer: str
    files: tuple[str, ...]

    @property
    def key(self) -> str:
        """The normalised name (PEP 503)."""
        return canonicalize_name(self.name)


def added_to(prefix: Path) -> list[Addition] | None:
    """Return what a user has added to an environment; nothing where no environment is.

    None if its manifest is damaged, so that nobody knows. Raises CommandError if the suite fails.
    """
    if not (prefix / contents.MANIFEST).is_file():
        return []
    output = call([*OWN_PYTHON, SUITE, "files", "--prefix", prefix, "--list-added"])
    rows: list[tuple[str, str, str, list[str]]] | None = json.loads(output)
    if rows is None:
        return None
    return [Addition(name, version, by, tuple(files)) for name, version, by, files in rows]


def carry_over(old: Path, new: Path, python: str, command: str) -> list[str]:
    """Put what a user has added to the environment `old` into the one that replaces it.

    new: a complete environment, to be renamed to `old`. python: the version of its Python, X.Y.
    command: the words that install a package again. Returns lines that say what is kept, and what
    is not and why. Raises StacksError if that cannot be found out.
    """
    try:
        additions = added_to(old)
    except CommandError as error:
        raise StacksError(
            f"{old}: what you have added cannot be listed",
            found=error.output or error.what,
            fix="`./invoke build` with --clean makes the environment again without it",
        ) from error
    if additions is None:
        return [
            "the list of this environment's files is damaged: what you have added is not kept; "
            f"get it back with `{command} NAME`"
        ]
    site = f"lib/python{python}/site-packages"
    versions = settings.installed(new / site)
    locked = {str(canonicalize_name(name)): version for name, version in versions.items()}
    dropped = _dropped(additions, old, new, python, locked)
    kept = [addition for addition in additions if addition not in dropped]
    # Two packages may have a file in common, such as the __init__.py of a namespace.
    for name in dict.fromkeys(name for addition in kept for name in addition.files):
        (new / name).parent.mkdir(parents=True, exist_ok=True)
        link_or_copy(old / name, new / name)
    names = ", ".join(f"{each.name} {each.version}" for each in kept)
    lines = [f"kept, added by you: {names}"] if kept else []
    for addition, reason in dropped.items():
        line = f"not kept, added by you: {addition.name} {addition.version}: {reason}"
        is_possible = addition.installer != "conda" and addition.key not in locked
        lines.append(line + f"; get it back with `{command} {addition.name}`" * is_possible)
    return lines


def _dropped(
    additions: Sequence[Addition], old: Path, new: Path, python: str, locked: Mapping[str, str]
) -> dict[Addition, str]:
    """Return the additions that cannot be kept, and why."""
    dropped: dict[Addition, str] = {}
    while True:
        kept = [addition for addition in additions if addition not in dropped]
        versions = {each.key: each.version for each in kept} | dict(locked)
        gone = {each.key for each in dropped} - versions.keys()
        more = {
            addition: reason
            for addition in kept
            if (reason := _reason(addition, old, new, python, locked))
            or (reason := _unmet(_requires(addition, old), python, versions, gone))
        }
        if not more:
            return dropped
        dropped |= more


def _reason(
    addition: Addition, old: Path, new: Path, python: str, locked: Mapping[str, str]
) -> str | None:
    """Return why a package cannot be kept by itself, None if it can."""
    if addition.installer == "conda":
        return "a conda client has installed it"
    if addition.key in locked:
        return f"the lock has {addition.name} {locked[addition.key]}"
    if not any(name.startswith(f"lib/python{python}/site-packages/") for name in addition.files):
        return f"it is not for Python {python}"
    for name in addition.files:
        if os.path.lexists(new / name) or any(
            os.path.lexists(new / folder) and not (new / folder).is_dir()
            for folder in Path(name).parents
        ):
            return f"{name} is in the way of a locked file"
    return None


def _requires(addition: Addition, old: Path) -> Sequence[str]:
    """Return the requirements that a package's metadata has."""
    for name in addition.files:
        if name.endswith(".dist-info/METADATA"):
            # Older packages are in the encoding of their authors.
            text = (old / name).read_text(encoding="utf-8", errors="replace")
            return HeaderParser().parsestr(text).get_all("Requires-Dist") or ()
    return ()


def _unmet(
    requires: Sequence[str], python: str, versions: Mapping[str, str], gone: Collection[str]
) -> str | None:
    """Return the first requirement that the environment has in another version, or has lost."""
    markers = {name: str(value) for name, value in default_environment().items()}
    markers |= {"python_version": python, "python_full_version": f"{python}.0", "extra": ""}
    for text in requires:
        try:
            requirement = Requirement(text)
            applies = not requirement.marker or requirement.marker.evaluate(markers)
        except (ValueError, KeyError):
            # What pip cannot read either says nothing of what is here.
            continue
        name = canonicalize_name(requirement.name)
        if not applies:
            continue
        if name in gone:
            return f"it needs {requirement.name}, which is not kept"
        found = versions.get(name)
        if found and not requirement.specifier.contains(found, prereleases=True):
            return f"it needs {requirement.name}{requirement.specifier}, and {found} is here"
    return None


def import_warnings(variant: Variant, prefix: Path) -> list[str]:
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
        reasons = pool.map(lambda names: _import_error(prefix, names, folder), modules.values())
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


def _import_error(prefix: Path, modules: Sequence[str], folder: Path) -> str | None:
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
