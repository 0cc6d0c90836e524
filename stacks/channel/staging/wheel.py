"""Wheels and source archives of Python packages, with scripts that run in any prefix."""

from __future__ import annotations

import configparser
import re
import shutil
import zipfile
from pathlib import Path, PurePosixPath

from stacks.channel.stages import Sdist, Wheel
from stacks.channel.staging.build_context import BuildContext
from stacks.core.errors import IntegrityError
from stacks.sources.unpack import unpack_tar

# Runs the python in the script's folder: valid as sh, and as a string literal in Python.
SHEBANG = (
    '#!/bin/sh\n\'\'\'exec\' "$(dirname -- "$(realpath -- "$0")")/python" "$0" "$@"\n\' \'\'\'\n'
)


def stage_wheel(context: BuildContext) -> None:
    """Unpack the recipe's wheels, and write a script for each of their entry points."""
    extra = context.recipe.extra
    assert isinstance(extra, Wheel)
    scripts = context.root / ("python-scripts" if context.recipe.build.noarch else "bin")
    for wheel in context.files:
        unpack_wheel(wheel, context.root, extra.site_packages, scripts)


def unpack_wheel(wheel: Path, root: Path, site_packages: str, scripts: Path) -> None:
    """Unpack a wheel below `root` (PEP 427), and write its scripts to the folder `scripts`.

    Raises IntegrityError for a member outside of `root`, or of an unknown kind.
    """
    bases = {
        "purelib": root / site_packages,
        "platlib": root / site_packages,
        "data": root,
        "scripts": scripts,
    }
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            if member.is_dir():
                continue
            kind, name = "purelib", member.filename
            if match := re.fullmatch(r"[^/]+\.data/(\w+)/(.+)", name):
                kind, name = match.groups()
            if kind not in bases or PurePosixPath(name).is_absolute() or ".." in name.split("/"):
                raise IntegrityError(
                    f"{wheel.name}: {member.filename} cannot be placed in the package",
                    expected=f"a file inside one of {', '.join(bases)}",
                    fix="pin another wheel",
                )
            target = bases[kind] / name
            target.parent.mkdir(parents=True, exist_ok=True)
            content = archive.read(member)
            if kind == "scripts" and content.startswith(b"#!python"):
                content = SHEBANG.encode() + content.split(b"\n", 1)[1]
            target.write_bytes(content)
            executable = kind == "scripts" or (member.external_attr >> 16) & 0o111
            target.chmod(0o755 if executable else 0o644)
    for dist_info in sorted((root / site_packages).glob("*.dist-info")):
        (dist_info / "INSTALLER").write_text("conda\n")
        write_entry_points(dist_info, scripts)


def write_entry_points(dist_info: Path, scripts: Path) -> None:
    """Write a script for each of the distribution's console entry points."""
    path = dist_info / "entry_points.txt"
    if not path.is_file():
        return
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(path.read_text(encoding="utf-8"))
    if not parser.has_section("console_scripts"):
        return
    for name, reference in sorted(parser.items("console_scripts")):
        module, _, function = reference.split("[")[0].strip().partition(":")
        first = function.split(".")[0]
        write_script(
            scripts / name,
            f"import sys\n\nfrom {module} import {first}\n\nsys.exit({function}())\n",
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
    shutil.copytree(source / extra.package, context.root / "site-packages" / extra.package)
    dist_info = context.root / f"site-packages/{extra.distribution}-{version}.dist-info"
    dist_info.mkdir()
    shutil.copyfile(source / "PKG-INFO", dist_info / "METADATA")
    (dist_info / "INSTALLER").write_text("conda\n")
    for name, script in extra.scripts.items():
        body = (source / script).read_text(encoding="utf-8").split("\n", 1)[1]
        write_script(context.root / "python-scripts" / name, body)
    context.licences.mkdir(parents=True)
    for name in ("LICENSE.txt", "DESCRIPTION.txt"):
        if (source / name).is_file():
            shutil.copyfile(source / name, context.licences / name)
