"""`./invoke publish-channel`."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from stacks.core.console import display_path
from stacks.core.errors import UsageError
from stacks.core.paths import check_working_folder, expanded
from stacks.core.workspace import Workspace
from stacks.distribution import channel, registry, signature
from stacks.sources.registry import is_registry, registry_at


def publish_channel(
    workspace: Workspace,
    to: str,
    *,
    include: Collection[str] = (),
    key: str = "",
    check: bool = False,
    images: bool = False,
    new_key: Path | None = None,
) -> None:
    """Publish the channel in a folder or a registry, check a folder, or make a key.

    Raises UsageError for options that do not belong together.
    """
    if new_key:
        public = signature.make_key(workspace, new_key)
        print(f"{new_key}: keep it secret; {display_path(public)}: commit it")
        return
    if not to:
        raise UsageError(
            "where is the channel to be published?", fix="--to DIR or --to oci://HOST/NAME"
        )
    # Before the packages are built.
    signer = signature.private_key(workspace, key) if key else None
    if is_registry(to):
        if check:
            raise UsageError("--check compares a folder", fix="leave it out, or name a folder")
        if images:
            raise UsageError("--images writes to a folder", fix="leave it out, or name a folder")
        target = registry_at(to, "--to")
        published, paths = channel.prepare(workspace, include)
        signed = signer.sign(published.digests.encode()) if signer else None
        registry.push(target, published, paths, channel.written_files(published, signed))
        channel.report(published, signed)
        return
    folder = Path(os.path.realpath(expanded(to)))
    if check:
        channel.check_folder(workspace, folder, include=include)
    else:
        check_working_folder(folder)
        channel.publish_to_folder(workspace, folder, include=include, key=signer, images=images)
