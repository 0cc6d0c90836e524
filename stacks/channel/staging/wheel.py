"""Wheels and source archives of Python packages, with scripts that run in any prefix."""

from __future__ import annotations

import configparser
import keyword
import os
import re
import shutil
from pathlib import Path

from stacks.channel.stages import Sdist, Wheel
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.dist_info import normalised, write_record
from stacks.channel.staging.tree import check_links, copy_tree
from stacks.core.errors import IntegrityError
from stacks.sources.unpack import unpack_tar, unpack_zip

# Runs the python in the script's folder: valid as sh, and as a string literal in Python.
SHEBANG = (
    '#!/bin/sh\n\'\'\'exec\' "$(dirname -- "$(realpath -- "$0")")/python" "$0" "$@"\n\' \'\'\'\n'
)
ANOTHER = "pin another wheel"
# Names of entry points, and what they refer to: both are written into scripts.
SCRIPT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_DOTTED = r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*"
REFERENCE = re.compile(rf"(?P<module>{_DOTTED}) *: *(?P<function>{_DOTTED}) *(\[[^\]\n]*\])?")


def stage_wheel(context: BuildContext) -> None:
    """Unpack the recipe's wheel, and write a script for each of its entry points."""
    extra = context.recipe.extra
    assert isinstance(extra, Wheel)
    scripts = context.root / ("python-scripts" if context.recipe.build.noarch else "bin")
    [wheel] = context.files
    write_record(context.root, unpack_wheel(wheel, context.root, extra.site_packages, scripts))


def unpack_wheel(wheel: Path, root: Path, site_packages: str, scripts: Path) -> Path:
    """Unpack a wheel below `root` (PEP 427), and write its scripts to the folder `scripts`.

    Returns its dist-info folder, which lacks a RECORD of what is unpacked. Raises IntegrityError
    for a member outside of `root` or of an unknown kind, and for broken metadata.
    """
    bases = {
        "purelib": site_packages,
        "platlib": site_packages,
        "data": ".",
        "scripts": os.path.relpath(scripts, root),
    }
    own_scripts = []

    def place(member: str) -> str | None:
        if member.endswith("/"):
            return None
        kind, name = "purelib", member
        if match := re.fullmatch(r"[^/]+\.data/(\w+)/(.+)", member):
            kind, name = match.groups()
        if kind not in bases or name.startswith("/"):
            raise IntegrityError(
                f"{wheel.name}: {member} cannot be placed in the package",
                expected=f"a file inside one of {', '.join(bases)}",
                fix=ANOTHER,
            )
        if kind == "scripts":
            own_scripts.append(scripts / name)
        return f"{bases[kind]}/{name}"

    unpack_zip(wheel, root, place)
    for path in own_scripts:
        first, _, rest = path.read_bytes().partition(b"\n")
        if first.startswith(b"#!python"):
            path.write_bytes(SHEBANG.encode() + rest)
        path.chmod(0o755)
    dist_info = _dist_info(root / site_packages, wheel.name)
    for name, body in entry_points(dist_info, wheel.name).items():
        if (scripts / name).exists():
            raise IntegrityError(
                f"{wheel.name}: its entry point {name} would overwrite a file of the wheel",
                fix=ANOTHER,
            )
        write_script(scripts / name, body)
    return dist_info


def _dist_info(site_packages: Path, wheel: str) -> Path:
    """Return the wheel's dist-info folder, after its name is normalised."""
    folders = sorted(path for path in site_packages.glob("*.dist-info") if path.is_dir())
    if len(folders) != 1:
        raise IntegrityError(
            f"{wheel}: a wheel has one dist-info folder",
            found=", ".join(path.name for path in folders) or "none",
            fix=ANOTHER,
        )
    return normalised(folders[0], wheel)


def entry_points(dist_info: Path, wheel: str) -> dict[str, str]:
    """Return the Python code of each console entry point by its name, sorted.

    Raises IntegrityError, which names `wheel`, where one has another form than
    `NAME = MODULE:FUNCTION [EXTRAS]`: name and reference are written into scripts.
    """
    path = dist_info / "entry_points.txt"
    if not path.is_file():
        return {}
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(path.read_text(encoding="utf-8"))
    except (configparser.Error, UnicodeDecodeError) as error:
        raise _broken_entry_point(wheel, " ".join(str(error).split())) from error
    items = parser.items("console_scripts") if parser.has_section("console_scripts") else []
    bodies = {}
    for name, reference in sorted(items):
        match = REFERENCE.fullmatch(reference)
        names = f"{match['module']}.{match['function']}".split(".") if match else []
        if not match or not SCRIPT.fullmatch(name) or any(map(keyword.iskeyword, names)):
            raise _broken_entry_point(wheel, repr(f"{name} = {reference}"))
        module, function = match["module"], match["function"]
        first = function.split(".")[0]
        bodies[name] = f"import sys\n\nfrom {module} import {first}\n\nsys.exit({function}())\n"
    return bodies


def _broken_entry_point(wheel: str, found: str) -> IntegrityError:
    return IntegrityError(
        f"{wheel}: an entry point cannot become a script",
        expected="NAME = MODULE:FUNCTION, a file name and Python names",
        found=found,
        fix=ANOTHER,
    )


def write_script(path: Path, body: str) -> None:
    """Write an executable Python script that runs with the python in its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SHEBANG + body, encoding="utf-8")
    path.chmod(0o755)


def stage_sdist(context: BuildContext) -> None:
    """Copy a pure Python package, its metadata and its scripts out of a source archive."""
    extra = context.recipe.extra
    assert isinstance(extra, Sdist)
    [sdist] = context.files
    version = context.recipe.package.version
    unpack_tar(sdist, context.scratch)
    source = context.scratch / f"{extra.distribution}-{version}"
    copy_tree(source / extra.package, context.root / "site-packages" / extra.package)
    check_links(context.root)
    dist_info = context.root / "site-packages" / f"{extra.distribution}.dist-info"
    dist_info.mkdir()
    shutil.copyfile(source / "PKG-INFO", dist_info / "METADATA")
    dist_info = normalised(dist_info, sdist.name)
    for name, script in extra.scripts.items():
        body = (source / script).read_text(encoding="utf-8").partition("\n")[2]
        write_script(context.root / "python-scripts" / name, body)
    context.licences.mkdir(parents=True)
    for name in ("LICENSE.txt", "DESCRIPTION.txt"):
        if (source / name).is_file():
            shutil.copyfile(source / name, context.licences / name)
    write_record(context.root, dist_info)
