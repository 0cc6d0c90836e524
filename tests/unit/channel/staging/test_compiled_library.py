from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from stacks.channel.staging import compiled_library
from stacks.channel.staging.build_context import BuildContext
from stacks.core.errors import IntegrityError
from stacks.sources.pins import SOURCE_PREFIX
from unit.helpers.staging import make_context, tree, write_gcc

EXTRA = {
    "stage": "compiled",
    "library": "liba.so",
    "flags": ["-O2"],
    "objects": [{"file": "a.c", "flags": ["-mavx2"]}, {"file": "own/b.c"}],
    "libraries": ["m"],
    "headers": ["include/a.h"],
    "licences": ["LICENSE"],
}


def context_of(tmp_path: Path, *names: str) -> BuildContext:
    path = tmp_path / "a.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    source = [{"suite": "bullseye", "archives": ["a"]}]
    return make_context(tmp_path, EXTRA, source, {SOURCE_PREFIX + "a": path})


def test_a_library_is_compiled_with_its_headers_and_licences(tmp_path: Path) -> None:
    own = tmp_path / "recipes/a/src/b.c"
    own.parent.mkdir(parents=True)
    own.touch()
    context = context_of(tmp_path, "a-1/a.c", "a-1/include/a.h", "a-1/LICENSE")
    log = write_gcc(context)
    compiled_library.stage(context)
    assert tree(context.root) == ["include/a.h", "lib/liba.so", "share/licenses/a/LICENSE"]
    folder = context.scratch / "unpacked/a-1"
    lines = log.read_text().splitlines()
    assert f"-ffile-prefix-map={folder}=. -c -O2 -mavx2 a.c -o 0.o" in lines
    assert f"-ffile-prefix-map={folder}=. -c -O2 own/b.c -o 1.o" in lines
    assert lines.count("SOURCE_DATE_EPOCH=1704067200") == 3
    assert [line for line in lines if "-shared" in line and line.endswith("-Wl,-z,defs -lm")]


def test_a_library_of_the_recipes_own_files_needs_no_archive(tmp_path: Path) -> None:
    sources = tmp_path / "recipes/a/src"
    (sources / "upstream").mkdir(parents=True)
    for name in ("b.c", "a.h", "upstream/c.c", "upstream/LICENSE-c"):
        (sources / name).touch()
    extra = EXTRA | {
        "objects": [{"file": "own/b.c"}, {"file": "own/c.c"}],
        "headers": ["own/a.h"],
        "licences": ["own/LICENSE-c"],
    }
    context = make_context(tmp_path, extra, [], {})
    log = write_gcc(context)
    compiled_library.stage(context)
    assert tree(context.root) == ["include/a.h", "lib/liba.so", "share/licenses/a/LICENSE-c"]
    assert "-c -O2 own/c.c -o 1.o" in log.read_text()


def test_an_archive_with_two_folders_is_refused(tmp_path: Path) -> None:
    context = context_of(tmp_path, "a-1/a.c", "b-1/a.c")
    with pytest.raises(IntegrityError, match=r"(?s)archive of a has another layout.*a-1, b-1"):
        compiled_library.stage(context)
