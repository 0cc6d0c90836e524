"""The files of a stack.yaml's own packages, chosen with uv (for Python 2.7, with pip).

The packages that the environment has already are constraints, and not part of the result: nothing
of the user's replaces them.
"""

import importlib.metadata
import json
import os
import re
import sys
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from stacks.core.disk import tmp_folder
from stacks.core.errors import UsageError
from stacks.core.process import CommandError, call
from stacks.core.workspace import Workspace
from stacks.locks import uv
from stacks.locks.lock import PYLOCK
from stacks.sources.package_index import PipSettings, pip_settings
from stacks.sources.pins import IndexFile, IndexPin, Pins
from stacks.sources.repin import pin_files
from stacks.variants.load import framework_names, load_framework
from stacks.variants.requests import unfit_requests
from stacks.variants.variant import FRAMEWORKS, Framework, Variant
from verify.core import surroundings

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# What needs NumPy 1.22, and does not say so.
OLD_NUMPY = ["xarray<2023.9"]
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
) -> tuple[tuple[IndexPin, ...], str]:
    """Return the files of a stack.yaml's own packages, and pylock.toml for other tools.

    python: the interpreter of an environment with all else that the variant has. preferred: their
    versions are chosen where they fit (not on Python 2.7). For Python 2.7 pylock.toml is empty.
    Raises UsageError, with the explanation of the conflict, if the requests do not fit together;
    FetchError; IntegrityError.
    """
    version = variant.framework.python
    base = installed(python.parents[1], version)
    _check_requests(workspace, variant, base)
    settings = pip_settings()
    for path in uv.missing_links(settings):
        print(f"warning: pip's find-links {path}: no such folder or file", file=sys.stderr)
    with tmp_folder() as folder:
        if version == "2.7":
            return _by_pip(workspace, settings, variant, python, base, folder), ""
        env = uv.environment(workspace, settings, os.environ)
        tool = uv.Uv(uv.unpack(workspace, pins, folder), folder, env)
        if preferred:
            # uv takes the versions of the file that it replaces.
            (folder / PYLOCK).write_text(_pylock(preferred), encoding="utf-8")
        try:
            text, messages = _compile(tool, variant, base, "--python", python)
        except CommandError as error:
            needed = _needed_frameworks(tool, variant, base, python, error)
            if not needed:
                uv.raise_for_index(error, variant, settings)
                if error.found != uv.NO_SOLUTION:
                    raise
            found = f"they need {needed} too" if needed else error.output or error.what
            raise _conflict(variant, found, _fitting(workspace, tool, variant)) from error
    uv.warn_of_extras(messages, variant)
    known = {each.name for each in base}
    # uv leaves the key out where no request is meant for this Python.
    packages = [p for p in tomllib.loads(text).get("packages", ()) if p["name"] not in known]
    return uv.pins_of(workspace, packages, variant.framework), text


def _check_requests(workspace: Workspace, variant: Variant, base: Iterable[Distribution]) -> None:
    """Raise UsageError for requests of another framework, or of other versions than installed ones.

    All are named at once, before an index is asked: a `pip freeze` has many.
    """
    framework, versions = variant.framework, {each.name: each.version for each in base}
    unfit = unfit_requests(variant.requests, versions, framework.python, framework.others)
    if not unfit:
        return
    wanted = {name: each.specifier for name, each in unfit.items() if name in FRAMEWORKS}
    fitting = []
    for name in framework_names(workspace) if wanted else ():
        other = load_framework(workspace, name)
        if all(other.project == n and other.version in of for n, of in wanted.items()):
            fitting.append(name)
    has = [f"{name} {versions[name]}" for name in unfit if name in versions]
    raise _unfit(
        variant,
        ", ".join(map(str, unfit.values())),
        (f"change `framework:` to {' or '.join(fitting)}, or " if fitting else "")
        + f"leave out {', '.join(unfit)}: "
        + f"the environment has {', '.join(has) or framework.name}",
    )


def _by_pip(
    workspace: Workspace,
    settings: PipSettings,
    variant: Variant,
    python: Path,
    base: Iterable[Distribution],
    folder: Path,
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
    if settings.find_links:
        env["PIP_FIND_LINKS"] = " ".join(
            Path(place).as_uri() if place.startswith("/") else place
            for place in settings.find_links
        )
    # A password that it would ask for is missing, or wrong.
    env |= {"PIP_NO_PYTHON_VERSION_WARNING": "1", "PIP_NO_INPUT": "1"}
    # The environment's pip.conf has it, too, but PIP_CONFIG_FILE may have pip read no such file.
    env["PIP_USE_FEATURE"] = "2020-resolver"
    words += ["-d", str(files), "-r", str(requests), "-c", str(constraints)]
    try:
        messages = call([python, *words], cwd=folder, env=env, merged=True)
    except CommandError as error:
        uv.raise_for_index(error, variant, settings)
        raise _conflict(variant, error.output or error.what) from error
    uv.warn_of_extras(messages, variant)
    known = {each.name for each in base}
    releases = {path.name: uv.release_of(path.name) for path in files.iterdir()}
    wanted = [IndexFile(*r, name) for name, r in sorted(releases.items()) if r[0] not in known]
    return pin_files(workspace, wanted, threading.Event())


def _compile(
    tool: uv.Uv,
    variant: Variant,
    base: Iterable[Distribution],
    *python: str | Path,
    alone: bool = True,
) -> tuple[str, str]:
    """Return the pylock.toml that uv makes of a stack's requests, and uv's messages.

    base: what is installed. python: the option that names the Python. alone: whether no package
    may bring another framework.
    """
    folder, requests = tool.folder, "".join(f"{request}\n" for request in variant.requests)
    (folder / "requests.in").write_text(requests, encoding="utf-8")
    text = _constraints(base, variant.framework, alone=alone)
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
    messages = tool.compile(options)
    return (folder / PYLOCK).read_text(encoding="utf-8"), messages


def _pylock(pins: Iterable[IndexPin]) -> str:
    """Return a pylock.toml with the pins' names and versions alone."""
    tables = [
        f"[[packages]]\nname = {json.dumps(pin.name)}\nversion = {json.dumps(pin.version)}\n"
        for pin in pins
    ]
    return "".join(['lock-version = "1.0"\ncreated-by = "theano-stacks"\n', *tables])


def _constraints(base: Iterable[Distribution], framework: Framework, *, alone: bool = True) -> str:
    # Two frameworks are not one environment; Theano and Theano-PyMC have the same folder.
    others = [f"{name}<0" for name in sorted(framework.others) if alone]
    pinned = [f"{each.name}=={each.version}" for each in base]
    old = OLD_NUMPY if any(line.startswith("numpy==1.21.") for line in pinned) else []
    lines = dict.fromkeys([*pinned, *others, *framework.constraints, *old])
    return "".join(f"{line}\n" for line in lines)


def _fitting(workspace: Workspace, tool: uv.Uv, variant: Variant) -> list[str]:
    """Return the other frameworks on which uv can resolve the requests of a stack."""
    names = []
    for name in framework_names(workspace):
        framework = load_framework(workspace, name)
        if name == variant.framework.name or framework.python == "2.7":
            continue
        parts = (each.partition("==") for each in framework.pip)
        base = [Distribution(canonicalize_name(each), version) for each, _, version in parts]
        other = variant.model_copy(update={"framework": framework})
        with suppress(CommandError):
            _compile(tool, other, base, "--python-version", framework.python)
            names.append(name)
    return names


def _needed_frameworks(
    tool: uv.Uv, variant: Variant, base: Iterable[Distribution], python: Path, error: CommandError
) -> str:
    """Return the other frameworks that the packages would bring, empty if that is not the fault.

    Without them uv may end at a version from years before, which it cannot build.
    """
    named = [name for name in sorted(variant.framework.others) if f"{name}<0" in error.output]
    if error.found == uv.NO_SOLUTION and not named:
        with suppress(CommandError):
            text, _ = _compile(tool, variant, base, "--python", python, alone=False)
            packages = tomllib.loads(text).get("packages", ())
            others = [p for p in packages if p["name"] in variant.framework.others]
            named = [f"{p['name']} {p['version']}" for p in others]
    return ", ".join(named)


def _conflict(variant: Variant, found: str, fitting: Sequence[str] | None = None) -> UsageError:
    """Return the error of packages that do not fit; fitting: None if nothing else was tried."""
    others = "" if fitting is None else "; no other framework fits either"
    return _unfit(
        variant,
        found,
        f"change `framework:` to {' or '.join(fitting)}, which they fit, or change `pip:`"
        if fitting
        else f"ask for other versions under `pip:`{others}",
    )


def _unfit(variant: Variant, found: str, fix: str) -> UsageError:
    """Return the error of packages that do not fit a variant's framework and its packages."""
    return UsageError(
        f"{variant.shown_file}: its packages do not fit {variant.framework.name} on "
        f"Python {variant.framework.python}",
        found=found,
        fix=fix,
    )
