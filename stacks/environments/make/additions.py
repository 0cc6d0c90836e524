"""The packages that a user asks for or adds: whether they import, and what a new build keeps."""

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import Distribution
from pathlib import Path, PurePosixPath

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from stacks.core.disk import tmp_folder
from stacks.core.errors import StacksError
from stacks.core.process import CommandError, call
from stacks.environments.make import contents, settings
from stacks.environments.make.pip_install import link_or_copy
from stacks.environments.programs import OWN_PYTHON, SUITE, environment
from stacks.variants.variant import Variant
from verify.core import machine

# Seconds for one import: some compile functions then.
LIMIT = 600.0
# What some distributions install beside their package by mistake.
UNIMPORTANT = {"test", "tests", "doc", "docs", "example", "examples", "benchmarks", "setup"}
# What to do for packages that fit Theano by their metadata alone.
ON_THEANO = {
    "keras": "the last that runs on Theano is keras==2.3.1",
    "pymc3": "change `framework:` to theano-pymc-1.1.2, for which its last versions are",
}
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
    versions = settings.installed(new / f"lib/python{python}/site-packages")
    locked = {str(canonicalize_name(name)): version for name, version in versions.items()}
    reasons = {each: _reason(each, new, python, locked) for each in additions}
    kept = [addition for addition, reason in reasons.items() if not reason]
    # Two packages may have a file in common, such as the __init__.py of a namespace.
    for name in dict.fromkeys(name for addition in kept for name in addition.files):
        (new / name).parent.mkdir(parents=True, exist_ok=True)
        link_or_copy(old / name, new / name)
    names = ", ".join(f"{each.name} {each.version}" for each in kept)
    lines = [f"kept, added by you: {names}"] if kept else []
    for addition, reason in reasons.items():
        if reason:
            line = f"not kept, added by you: {addition.name} {addition.version}: {reason}"
            is_possible = addition.installer != "conda" and addition.key not in locked
            lines.append(line + f"; get it back with `{command} {addition.name}`" * is_possible)
    for name, text in _unmet(kept, new):
        fix = f"`{command} --upgrade {name}` takes a version that fits"
        lines.append(f"warning: {text.removesuffix('.')}; {fix}")
    return lines


def _reason(addition: Addition, new: Path, python: str, locked: Mapping[str, str]) -> str:
    """Return why a package cannot be kept, empty if it can."""
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
    return ""


def _unmet(kept: Collection[Addition], prefix: Path) -> Iterator[tuple[str, str]]:
    """Yield those kept packages that miss a requirement, with the line in which pip says so."""
    if not kept:
        return
    words: list[str | Path] = [
        prefix / "bin/python",
        "-m",
        "pip",
        "check",
        "--disable-pip-version-check",
    ]
    env = environment(prefix) | {"PIP_CONFIG_FILE": os.devnull, "PYTHONPATH": ""}
    # A pip that cannot check is no reason to end the build.
    output = call(words, env=env, accepted=range(256))
    names = {addition.key: addition.name for addition in kept}
    for line in filter(None, output.splitlines()):
        if name := names.get(canonicalize_name(line.split()[0])):
            yield name, line


def import_warnings(variant: Variant, prefix: Path) -> list[str]:
    """Return a line for each requested package that cannot be imported, with the reason.

    prefix: the variant's environment. Packages without Python modules are left out.
    """
    site = prefix / f"lib/python{variant.framework.python}/site-packages"
    names = [Requirement(text).name for text in variant.requests]
    names += [re.split(r"[^\w.-]", spec)[0] for spec in variant.declared.get("packages", ())]
    installed = {
        canonicalize_name(folder.name.split("-")[0]): Distribution.at(folder).files or ()
        for folder in site.glob("*.dist-info")
    }
    modules = {
        name: found
        for name in dict.fromkeys(names)
        if (found := modules_of(name, installed.get(canonicalize_name(name), ())))
    }
    with tmp_folder() as folder, ThreadPoolExecutor(machine.usable_cores()) as pool:
        errors = pool.map(lambda names: _import_error(prefix, names, folder), modules.values())
        return [
            f"warning: {name} cannot be imported: {error}{_fix(variant, site, name, error)}"
            for name, error in zip(modules, errors, strict=True)
            if error
        ]


def _fix(variant: Variant, site: Path, name: str, error: str) -> str:
    """Return what to do if a requested package cannot be imported, empty if nobody knows.

    site: the environment's site-packages.
    """
    if variant.framework.project == "theano" and (fix := ON_THEANO.get(canonicalize_name(name))):
        return f"; {fix}"
    missing = MISSING.search(error)
    top = missing[1].partition(".")[0] if missing else ""
    # Not a namespace, which several packages fill.
    is_there = any((site / file).is_file() for file in (f"{top}/__init__.py", f"{top}.py"))
    if missing and top != missing[1] and is_there:
        return f"; the {top} that is there lacks it: ask for another version of {name}"
    return f"; add what has the module {missing[1]} to `pip:`" if missing else ""


def modules_of(name: str, files: Iterable[PurePosixPath]) -> list[str]:
    """Return the names by which a distribution is imported: its own, if one of them has it.

    files: the paths that it installs, from site-packages.
    """
    tops: dict[str, list[str]] = {}
    for path in files:
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


def _import_error(prefix: Path, modules: Sequence[str], folder: Path) -> str | None:
    """Return why modules cannot be imported in an environment, None if they can."""
    program = "; ".join(f"import {name}" for name in modules)
    words: list[str | Path] = [prefix / "bin/python", "-c", program]
    try:
        # An empty folder: Python would import the user's files of these names.
        call(words, cwd=folder, env=environment(prefix), limit=LIMIT)
    except CommandError as error:
        return error.last_line
    return None
