"""A pure Python package out of a source archive, with corrections of later releases."""

from __future__ import annotations

from stacks.channel.stages import EditedSdist
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.dist_info import write_record
from stacks.channel.staging.replace_text import replace_once
from stacks.channel.staging.wheel import stage_sdist


def stage(context: BuildContext) -> None:
    """Copy the package as stage_sdist does, then edit its files; IntegrityError if one differs."""
    extra = context.recipe.extra
    assert isinstance(extra, EditedSdist)
    stage_sdist(context)
    folder = context.root / "site-packages"
    for edit in extra.edits:
        fix = "correct `extra.edits` in the recipe"
        replace_once(folder / edit.file, edit.old, edit.new, fix)
    [dist_info] = folder.glob("*.dist-info")
    write_record(context.root, dist_info)
