"""Where the lock of a variant is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stacks.core.workspace import Workspace
from stacks.variants.variant import Variant, on_other_channel


def lock_folder(workspace: Workspace, variant: Variant) -> Path:
    """Return the folder of a variant's lock."""
    if variant.file:
        return variant.file.with_suffix(".lock")
    return workspace.locks / variant.framework.name / variant.name


def with_other_channels(workspace: Workspace, variants: Iterable[Variant]) -> tuple[Variant, ...]:
    """Return the variants, each followed by those that are locked on other channels."""
    return tuple(
        each
        for variant in variants
        for each in (
            variant,
            *(
                on_other_channel(variant, folder.name.partition("@")[2])
                for folder in sorted(
                    lock_folder(workspace, variant).parent.glob(f"{variant.name}@*")
                )
                if not variant.file
            ),
        )
    )
