"""Python packages out of wheels, with scripts for any prefix, source archives and own modules.

The copies of GCC's libraries in wheels are left out. Those are under the GPL with an exception
(libgfortran) and the LGPL (libquadmath), so whoever publishes them gives their source, too. Nobody
pinned the source of a wheel's copies. The package libgcc-runtime has the same libraries, and its
source is published with it.
"""

from __future__ import annotations

import configparser
import keyword
import os
import re
import shutil
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from stacks.channel.build_context import BuildContext
from stacks.channel.staging.elf import elf_files, needed, overwrite_need
from stacks.channel.staging.stage import Edit, Stage
from stacks.channel.staging.tree import check_links, copy_tree, normalised, only
from stacks.core.errors import IntegrityError
from stacks.core.models import FileName, RelativePath
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
PACKAGE = "libgcc-runtime"
# auditwheel writes a hash into the name of each library that it copies.
COPY = re.compile(r"(?P<name>lib(?:gfortran|quadmath))-[0-9a-f-]+(?P<version>\.so\.\d+)[.\d]*")
IN_PACKAGE = ("libgfortran.so.5", "libquadmath.so.0")


class Wheel(Stage):
    """A wheel, with a script for each of its entry points."""

    stage: Literal["wheel"]
    site_packages: RelativePath = "site-packages"

    def write(self, context: BuildContext) -> Path:
        """Unpack the wheel, and write its scripts."""
        scripts = context.root / ("python-scripts" if context.recipe.build.noarch else "bin")
        [wheel] = context.files
        return unpack_wheel(wheel, context.root, self.site_packages, scripts)


class FortranWheel(Wheel):
    """A wheel with Fortran in it, without its own copies of GCC's run-time libraries."""

    stage: Literal["fortran-wheel"]  # type: ignore[assignment]

    def write(self, context: BuildContext) -> Path:
        """Unpack the wheel, and have its modules load libgcc-runtime's libraries."""
        dist_info = super().write(context)
        use_libgcc_runtime(context)
        return dist_info


def use_libgcc_runtime(context: BuildContext) -> None:
    """Have all modules load libgcc-runtime's libraries, and remove the copies.

    A copy of another version than libgcc-runtime's stays. Raises IntegrityError where the recipe
    does not require that package.
    """
    recipe, shared = context.recipe, {}
    for path in sorted(context.root.rglob("lib*.so*")):
        match = COPY.fullmatch(path.name)
        if match and (name := match["name"] + match["version"]) in IN_PACKAGE:
            shared[path] = name
    if shared and PACKAGE not in {spec.split()[0] for spec in recipe.requirements.run}:
        raise IntegrityError(
            f"{recipe.package.name}: its modules need {', '.join(sorted(shared.values()))}",
            fix=f"add {PACKAGE} to requirements.run of the recipe",
        )
    for path in shared:
        path.unlink()
        if not any(path.parent.iterdir()):
            path.parent.rmdir()
    names = {path.name: name for path, name in shared.items()}
    for module in elf_files(context.root):
        for name in needed(module):
            if name in names:
                overwrite_need(module, name, names[name])


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
    return normalised(only(folders, f"{wheel}: its dist-info folders"), wheel)


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


SITE = "site-packages"


class EditedSdist(Stage):
    """A pure Python package out of a source archive, with corrections of later releases."""

    stage: Literal["edited-sdist"]
    package: RelativePath
    distribution: FileName
    scripts: dict[FileName, RelativePath] = Field(default_factory=dict)
    edits: tuple[Edit, ...] = Field(min_length=1, strict=False)

    def write(self, context: BuildContext) -> Path:
        """Copy the package, its metadata and its scripts; edit it; IntegrityError if it differs."""
        [sdist] = context.files
        unpack_tar(sdist, context.tmp)
        source = context.tmp / f"{self.distribution}-{context.recipe.package.version}"
        site = context.root / SITE
        copy_tree(source / self.package, site / self.package)
        check_links(context.root)
        for edit in self.edits:
            edit.apply(site)
        dist_info = site / f"{self.distribution}.dist-info"
        dist_info.mkdir()
        shutil.copyfile(source / "PKG-INFO", dist_info / "METADATA")
        for name, script in self.scripts.items():
            body = (source / script).read_text(encoding="utf-8").partition("\n")[2]
            write_script(context.root / "python-scripts" / name, body)
        for name in ("LICENSE.txt", "DESCRIPTION.txt"):
            if (source / name).is_file():
                shutil.copyfile(source / name, context.licences / name)
        return normalised(dist_info, sdist.name)


class PythonModules(Stage):
    """Python modules of the project, for every Python."""

    takes_src: ClassVar = True

    stage: Literal["python-modules"]

    def write(self, context: BuildContext) -> Path:
        """Copy the modules to site-packages, with metadata."""
        recipe, dist_info = context.recipe, context.root / SITE / "own.dist-info"
        dist_info.mkdir(parents=True)
        for path in self.code(context):
            shutil.copyfile(path, context.root / SITE / path.name)
        (dist_info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {recipe.package.name}\n"
            f"Version: {recipe.package.version}\n"
            f"Summary: {recipe.about.summary}\nLicense: {recipe.about.license}\n"
        )
        return normalised(dist_info, recipe.package.name)
