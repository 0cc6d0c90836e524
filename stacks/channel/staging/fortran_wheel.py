"""Wheels with Fortran in them, without their own copies of GCC's run-time libraries.

Those are under the GPL with an exception (libgfortran) and the LGPL (libquadmath), so whoever
publishes them gives their source, too. Nobody pinned the source of a wheel's copies. The package
libgcc-runtime has the same libraries, and its source is published with it.
"""

from __future__ import annotations

import re
from pathlib import Path

from stacks.channel.recipe import Recipe
from stacks.channel.stages import FortranWheel
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.dist_info import write_record
from stacks.channel.staging.elf import elf_files, needed
from stacks.channel.staging.wheel import unpack_wheel
from stacks.core.errors import IntegrityError

PACKAGE = "libgcc-runtime"
# auditwheel writes a hash into the name of each library that it copies.
COPY = re.compile(r"(?P<name>lib(?:gfortran|quadmath))-[0-9a-f-]+(?P<version>\.so\.\d+)[.\d]*")
IN_PACKAGE = ("libgfortran.so.5", "libquadmath.so.0")


def stage(context: BuildContext) -> None:
    """Unpack the recipe's wheel, without GCC's run-time libraries.

    Raises IntegrityError where the wheel has none of them.
    """
    extra = context.recipe.extra
    assert isinstance(extra, FortranWheel)
    [wheel] = context.files
    dist_info = unpack_wheel(wheel, context.root, extra.site_packages, context.root / "bin")
    if not use_libgcc_runtime(context.root, context.recipe):
        raise IntegrityError(
            f"{wheel.name} has no copy of libgfortran", fix="use the stage `wheel` in the recipe"
        )
    write_record(context.root, dist_info)


def use_libgcc_runtime(root: Path, recipe: Recipe) -> bool:
    """Have all modules load libgcc-runtime's libraries, remove the copies; return if any was there.

    A copy of another version than libgcc-runtime's stays. Raises IntegrityError where the recipe
    lacks what that needs: the package, or the licence.
    """
    copies = [path for path in sorted(root.rglob("lib*.so*")) if COPY.fullmatch(path.name)]
    replaced = {path.name: _name_in_package(path.name) for path in copies}
    other = [name for name, common in replaced.items() if common not in IN_PACKAGE]
    if other and "GPL" not in recipe.about.license:
        raise IntegrityError(
            f"{recipe.package.name}: {', '.join(other)} is GCC's",
            expected="its licence in about.license",
            found=recipe.about.license,
            fix="complete about.license and about.republish of the recipe",
        )
    shared = {name: common for name, common in replaced.items() if common in IN_PACKAGE}
    if shared and PACKAGE not in {spec.split()[0] for spec in recipe.requirements.run}:
        raise IntegrityError(
            f"{recipe.package.name}: its modules need {', '.join(sorted(shared.values()))}",
            fix=f"add {PACKAGE} to requirements.run of the recipe",
        )
    for path in copies:
        if path.name in shared:
            path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()
    for module in elf_files(root):
        for name in needed(module):
            if name in shared:
                overwrite_name(module, name, shared[name])
    return bool(shared)


def _name_in_package(name: str) -> str:
    match = COPY.fullmatch(name)
    assert match
    return match["name"] + match["version"]


def overwrite_name(module: Path, old: str, new: str) -> None:
    """Overwrite the name of a library that a module needs with a shorter one, in place.

    patchelf would add megabytes to old files. The file needs no RPATH to the new library: the
    executable's DT_RPATH leads there.
    """
    before = b"\0" + old.encode() + b"\0"
    after = (b"\0" + new.encode()).ljust(len(before), b"\0")
    content = module.read_bytes()
    if content.count(before) != 1 or len(after) != len(before):
        raise IntegrityError(
            f"{module.name}: the name {old} cannot be overwritten",
            expected=f"that name once, and at least as long as {new}",
            found=f"{content.count(before)} times",
            fix="pin another wheel",
        )
    module.write_bytes(content.replace(before, after))
