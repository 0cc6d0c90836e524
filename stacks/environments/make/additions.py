"""The Python packages that a user has added to an environment, when it is made again."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement

from stacks.core.errors import StacksError
from stacks.core.process import CommandError, call
from stacks.environments.make import manifest, pip_settings
from stacks.environments.make.pip_install import link_or_copy
from stacks.environments.suite import OWN_PYTHON, SUITE


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
        return normal(self.name)


def normal(name: str) -> str:
    """Return a distribution's name as PEP 503 normalises it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def added_to(prefix: Path) -> list[Addition] | None:
    """Return what a user has added to an environment; nothing where no environment is.

    None if its manifest is damaged, so that nobody knows. Raises CommandError if the suite fails.
    """
    if not (prefix / manifest.NAME).is_file():
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
    locked = pip_settings.installed(new / site)
    dropped = _dropped(additions, old, new, python, {normal(n): v for n, v in locked.items()})
    kept = [addition for addition in additions if addition not in dropped]
    # Two packages may have a file in common, such as the __init__.py of a namespace.
    for name in dict.fromkeys(name for addition in kept for name in addition.files):
        (new / name).parent.mkdir(parents=True, exist_ok=True)
        link_or_copy(old / name, new / name)
    names = ", ".join(f"{each.name} {each.version}" for each in kept)
    lines = [f"kept, added by you: {names}"] if kept else []
    for addition, reason in dropped.items():
        line = f"not kept, added by you: {addition.name} {addition.version}: {reason}"
        is_possible = addition.installer != "conda" and addition.key not in map(normal, locked)
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
    environment = {name: str(value) for name, value in default_environment().items()}
    environment |= {"python_version": python, "python_full_version": f"{python}.0", "extra": ""}
    for text in requires:
        try:
            requirement = Requirement(text)
            applies = not requirement.marker or requirement.marker.evaluate(environment)
        except (ValueError, KeyError):
            # What pip cannot read either says nothing of what is here.
            continue
        name = normal(requirement.name)
        if not applies:
            continue
        if name in gone:
            return f"it needs {requirement.name}, which is not kept"
        found = versions.get(name)
        if found and not requirement.specifier.contains(found, prereleases=True):
            return f"it needs {requirement.name}{requirement.specifier}, and {found} is here"
    return None
