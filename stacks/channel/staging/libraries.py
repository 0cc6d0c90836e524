"""Shared libraries of debs, with an RPATH by which they find one another."""

from __future__ import annotations

from stacks.channel.stages import Libraries
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.debian import copy_libraries, copy_licences, unpack_all
from stacks.channel.staging.elf import elf_files, set_rpath


def stage(context: BuildContext) -> None:
    """Copy the libraries of the recipe's debs to lib/, and make the recipe's links there."""
    extra = context.recipe.extra
    assert isinstance(extra, Libraries)
    source = context.scratch / "debs"
    unpack_all(context, source)
    copy_libraries(source, context.root / "lib", extra.libraries)
    for link, target in extra.links.items():
        (context.root / "lib" / link).symlink_to(target)
    copy_licences(source, context)
    set_rpath(elf_files(context.root), context.root / "lib")
