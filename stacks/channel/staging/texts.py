"""Texts that a recipe has in itself, with the environment's path in some of them."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from pathlib import Path

import zstandard

from stacks.channel.stages import Texts
from stacks.channel.staging.build_context import BuildContext

PATHS = "info/paths.json"
COMPRESSION_LEVEL = 5


def stage(context: BuildContext) -> None:
    """Write the recipe's texts to their paths."""
    extra = context.recipe.extra
    assert isinstance(extra, Texts)
    for name, text in extra.files.items():
        path = context.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def declare_placeholder(package: Path, texts: Texts) -> None:
    """Say in a .conda file which of its texts have the placeholder of the environment's path.

    The writer of packages looks for the path of a folder of its own, which is no fixed one.
    """
    with zipfile.ZipFile(package) as archive:
        members = [(each, archive.read(each)) for each in archive.infolist()]
    names = {name for name, text in texts.files.items() if texts.placeholder in text}
    # Copies of the members' own records: they have no time of this machine.
    with zipfile.ZipFile(package, "w", zipfile.ZIP_STORED) as archive:
        for member, data in members:
            is_info = member.filename.startswith("info-")
            archive.writestr(member, _declared(data, names, texts.placeholder) if is_info else data)


def _declared(data: bytes, names: set[str], placeholder: str) -> bytes:
    """Return a compressed info archive whose paths.json names the files with a placeholder."""
    out = io.BytesIO()
    source = io.BytesIO(zstandard.ZstdDecompressor().decompressobj().decompress(data))
    with tarfile.open(fileobj=source) as old, tarfile.open(fileobj=out, mode="w") as new:
        for member in old:
            file = old.extractfile(member)
            content = file.read() if file else b""
            if member.name == PATHS:
                paths = json.loads(content)
                for entry in paths["paths"]:
                    if entry["_path"] in names:
                        entry |= {"prefix_placeholder": placeholder, "file_mode": "text"}
                content = json.dumps(paths, indent=2).encode()
                member.size = len(content)
            new.addfile(member, io.BytesIO(content))
    return zstandard.ZstdCompressor(level=COMPRESSION_LEVEL, threads=0).compress(out.getvalue())
