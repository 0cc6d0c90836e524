"""The files of a stack.yaml's own packages, chosen with uv (for Python 2.7, with pip).

The packages that the environment has already are constraints, and not part of the result: nothing
of the user's replaces them.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.tags import Tag
from packaging.utils import canonicalize_name

from stacks.core.console import display_path
from stacks.core.disk import scratch
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.process import CommandError, call
from stacks.core.workspace import Workspace
from stacks.locks import uv
from stacks.locks.texts import PYLOCK
from stacks.sources.mirrors import pip_settings
from stacks.sources.pins import IndexPin, Pins
from stacks.sources.repin import FileRequest, pin_files
from stacks.variants.load import framework_names, load_framework
from stacks.variants.variant import Framework, Variant
from verify.core import surroundings

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FRAMEWORKS = frozenset(["theano", "theano-pymc", "aesara", "pytensor"])
# pip 20.3's resolver reads the index's page of a package again for each step: 339 pages for 13
# packages. Here it reads each once.
PIP_20 = """\
import sys
from pip._internal.cli.main import main
from pip._internal.index.package_finder import PackageFinder
ask, known = PackageFinder.find_all_candidates, {}
def find_all_candidates(self, name):
    if name not in known:
        known[name] = ask(self, name)
    return known[name]
PackageFinder.find_all_candidates = find_all_candidates
sys.exit(main(sys.argv[1:]))
"""


@dataclass(frozen=True)
class Distribution:
    """An installed package; requires: what it asks for, as pip has it."""

    name: str
    version: str
    requires: tuple[str, ...] = ()

    @property
    def extras(self) -> list[str]:
        """The extras for which it asks for anything, sorted."""
        found = re.findall(r"extra *== *['\"]([^'\"]+)", " ".join(self.requires))
        return sorted(set(found))


def installed(prefix: Path, version: str) -> tuple[Distribution, ...]:
    """Return what is installed in an environment whose Python has a version, `3.9`, by name."""
    library = prefix / f"lib/python{version}"
    folders = [str(library), str(library / "site-packages")]
    found = (
        Distribution(
            canonicalize_name(each.metadata["Name"]), each.version, (*(each.requires or ()),)
        )
        for each in importlib.metadata.distributions(path=folders)
    )
    return tuple(sorted(found, key=lambda each: each.name))


def resolve(
    workspace: Workspace,
    variant: Variant,
    python: Path,
    pins: Pins,
    preferred: Sequence[IndexPin] = (),
) -> tuple[tuple[IndexPin, ...], str | None]:
    """Return the files of a stack.yaml's own packages, and pylock.toml for other tools.

    python: the interpreter of an environment with all else that the variant has. preferred: their
    versions are chosen where they fit (not on Python 2.7). There is no pylock.toml for Python 2.7.
    Raises UsageError, with the explanation of the conflict, if the requests do not fit together;
    FetchError; IntegrityError.
    """
    version = variant.framework.python
    base = installed(python.parents[1], version)
    with scratch() as folder:
        if version == "2.7":
            return _by_pip(workspace, variant, python, base, folder), None
        program = uv.unpack(workspace, pins, folder)
        if preferred:
            # uv takes the versions of the file that it replaces.
            (folder / PYLOCK).write_text(_pylock(preferred), encoding="utf-8")
        try:
            text, messages = _compile(workspace, program, variant, base, folder, "--python", python)
        except CommandError as error:
            assert variant.file
            uv.raise_for_index(error, display_path(variant.file))
            if error.found != uv.NO_SOLUTION:
                raise
            fitting = _fitting(workspace, program, variant, folder)
            raise _conflict(variant, error, fitting) from error
    assert variant.file
    uv.warn_of_extras(messages, display_path(variant.file))
    known = {each.name for each in base}
    # uv leaves the key out where no request is meant for this Python.
    packages = [p for p in tomllib.loads(text).get("packages", ()) if p["name"] not in known]
    return _pins(workspace, packages, uv.supported_tags(variant.framework)), text


def _by_pip(
    workspace: Workspace, variant: Variant, python: Path, base: Iterable[Distribution], folder: Path
) -> tuple[IndexPin, ...]:
    """Resolve with the environment's own pip, which downloads what it chooses."""
    requests, constraints, files = folder / "requests", folder / "constraints", folder / "files"
    requests.write_text("\n".join(variant.requests) + "\n", encoding="utf-8")
    text = _constraints(base, variant.framework)
    constraints.write_text(text, encoding="utf-8")
    words = ["-E", "-s", "-c", PIP_20, "--disable-pip-version-check", "download", "--quiet"]
    # So that a source archive's own setup finds the environment's compiler.
    inherited = surroundings.pip(os.environ)
    env = {**inherited, "PATH": f"{python.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}
    # Absolute: pip does not run in the user's folder. URLs: pip splits paths at their blanks.
    if find_links := pip_settings().find_links:
        env["PIP_FIND_LINKS"] = " ".join(
            Path(place).as_uri() if place.startswith("/") else place for place in find_links
        )
    words += ["-d", str(files), "-r", str(requests), "-c", str(constraints)]
    assert variant.file
    try:
        messages = call([python, *words], cwd=folder, env=env, merged=True)
    except CommandError as error:
        uv.raise_for_index(error, display_path(variant.file))
        raise _conflict(variant, error) from error
    uv.warn_of_extras(messages, display_path(variant.file))
    known = {each.name for each in base}
    releases = {path.name: uv.release_of(path.name) for path in files.iterdir()}
    wanted = [FileRequest(*r, name) for name, r in sorted(releases.items()) if r[0] not in known]
    return pin_files(workspace, wanted, threading.Event())


def _compile(
    workspace: Workspace,
    program: Path,
    variant: Variant,
    base: Iterable[Distribution],
    folder: Path,
    *python: str | Path,
) -> tuple[str, str]:
    """Return the pylock.toml that uv makes of a stack's requests, and uv's messages.

    base: what is installed. folder: for the files. python: the option that names the Python.
    """
    requests = "".join(f"{request}\n" for request in variant.requests)
    (folder / "requests.in").write_text(requests, encoding="utf-8")
    text = _constraints(base, variant.framework)
    (folder / "constraints.txt").write_text(text, encoding="utf-8")
    # uv need not build what is installed to know what it asks for.
    lines = []
    for each in base:
        lines += [
            "[[dependency-metadata]]",
            f"name = {json.dumps(each.name)}",
            f"version = {json.dumps(each.version)}",
            f"requires-dist = {json.dumps(each.requires)}",
            f"provides-extra = {json.dumps(each.extras)}",
        ]
    (folder / "uv.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    glibc = variant.framework.glibc.replace(".", "_")
    options = [*python, "--python-platform", f"x86_64-manylinux_{glibc}"]
    messages = uv.compile_lock(workspace, program, folder, PYLOCK, options)
    return (folder / PYLOCK).read_text(encoding="utf-8"), messages


def _pylock(pins: Iterable[IndexPin]) -> str:
    """Return a pylock.toml with the pins' names and versions alone."""
    tables = [
        f"[[packages]]\nname = {json.dumps(pin.name)}\nversion = {json.dumps(pin.version)}\n"
        for pin in pins
    ]
    return "".join(['lock-version = "1.0"\ncreated-by = "theano-stacks"\n', *tables])


def _constraints(base: Iterable[Distribution], framework: Framework) -> str:
    lines = [*(f"{each.name}=={each.version}" for each in base), *framework.constraints]
    return "".join(f"{line}\n" for line in lines)


def _fitting(workspace: Workspace, program: Path, variant: Variant, folder: Path) -> list[str]:
    """Return the other frameworks on which uv can resolve the requests of a stack."""
    names = []
    for name in framework_names(workspace):
        framework = load_framework(workspace, name)
        if name == variant.framework.name or framework.python == "2.7":
            continue
        parts = (each.partition("==") for each in framework.pip)
        base = [Distribution(canonicalize_name(each), version) for each, _, version in parts]
        other = variant.model_copy(update={"framework": framework})
        option = "--python-version", framework.python
        try:
            text, _ = _compile(workspace, program, other, base, folder, *option)
        except CommandError:
            continue
        found = {package["name"] for package in tomllib.loads(text).get("packages", ())}
        # Not where they bring another framework along.
        if not found & (FRAMEWORKS - {each.name for each in base}):
            names.append(name)
    return names


def _conflict(
    variant: Variant, error: CommandError, fitting: Sequence[str] | None = None
) -> UsageError:
    """Return the error of packages that do not fit; fitting: None if nothing else was tried."""
    assert variant.file
    others = "" if fitting is None else "; no other framework fits either"
    return UsageError(
        f"{display_path(variant.file)}: its packages do not fit {variant.framework.name} on "
        f"Python {variant.framework.python}",
        found=error.output or error.what,
        fix=f"change `framework:` to {' or '.join(fitting)}, which they fit, or change `pip:`"
        if fitting
        else f"ask for other versions under `pip:`{others}",
    )


def _pins(
    workspace: Workspace, packages: Sequence[Mapping[str, Any]], tags: Mapping[Tag, int]
) -> tuple[IndexPin, ...]:
    files = {p["name"]: uv.best_file(p, tags) for p in packages}
    requests = [
        FileRequest(p["name"], p["version"], uv.name_of(files[p["name"]])) for p in packages
    ]
    pins = pin_files(workspace, requests, threading.Event())
    for pin in pins:
        expected = files[pin.name].get("hashes", {}).get("sha256")
        if expected and expected != pin.sha256:
            raise IntegrityError(
                f"{pin.filename} has other bytes than the index said a moment ago",
                expected=f"sha256 {expected}",
                found=f"sha256 {pin.sha256}",
                fix="run it again; if it persists, the index is broken",
            )
    return pins
