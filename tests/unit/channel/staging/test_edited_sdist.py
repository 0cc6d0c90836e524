"""The stage `edited-sdist`."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any

import pytest

from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.edited_sdist import stage
from stacks.core.errors import IntegrityError
from unit.helpers.staging import make_context

FILES = {"a/b.py": "x = ()\n", "PKG-INFO": "Metadata-Version: 1.1\nName: a\nVersion: 1\n"}
EDIT = {"file": "a/b.py", "old": "x = ()", "new": "x = None"}


def context_of(tmp_path: Path, *edits: dict[str, Any]) -> BuildContext:
    path = tmp_path / "a-1.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in FILES.items():
            info = tarfile.TarInfo(f"a-1/{name}")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    extra = {"stage": "edited-sdist", "package": "a", "distribution": "a", "edits": list(edits)}
    source = [{"project": "a", "version": "1", "file": path.name}]
    return make_context(tmp_path, extra, source, {path.name: path})


def test_its_files_are_corrected_and_the_record_has_the_new_bytes(tmp_path: Path) -> None:
    context = context_of(tmp_path, EDIT)
    stage(context)
    assert (context.root / "site-packages/a/b.py").read_text() == "x = None\n"
    record = (context.root / "site-packages/a-1.dist-info/RECORD").read_text()
    assert [line.split(",")[2] for line in record.splitlines() if line[:6] == "a/b.py"] == ["9"]


def test_another_text_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IntegrityError, match="not the file that the recipe was written for"):
        stage(context_of(tmp_path, {**EDIT, "old": "y = ()"}))
