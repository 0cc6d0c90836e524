"""Shared libraries as Debian built them, made to find one another."""

from __future__ import annotations

from stacks.channel.stages import Libraries
from stacks.channel.staging.build_context import Work
from stacks.channel.staging.debian import copy_libraries, copy_licences, unpack_all
from stacks.channel.staging.elf import elf_files, set_rpath


def stage(work: Work) -> None:
    """Copy the libraries of the recipe's debs to lib/, with the links that it names."""
    extra = work.recipe.extra
    assert isinstance(extra, Libraries)
    source = work.scratch / "debs"
    unpack_all(work, source)
    copy_libraries(source, work.root / "lib", extra.libraries)
    for link, target in extra.links.items():
        (work.root / "lib" / link).symlink_to(target)
    copy_licences(source, work)
    set_rpath(elf_files(work.root), work.root / "lib")
