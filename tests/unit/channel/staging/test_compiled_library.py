from __future__ import annotations

from pathlib import Path

from stacks.channel.staging import compiled_library
from unit.helpers.openssl import source_archive
from unit.helpers.staging import make_context, tree, write_gcc

EXTRA = {
    "stage": "compiled",
    "library": "liba.so",
    "flags": ["-O2"],
    "objects": [{"file": "a.c", "flags": ["-mavx2"]}, {"file": "more/b.c"}],
    "libraries": ["m"],
    "headers": ["include/a.h"],
    "licences": ["more/LICENSE"],
}


def test_a_library_is_compiled_with_its_headers_and_licences(tmp_path: Path) -> None:
    folder = tmp_path / "recipes/a/src"
    for name in ("a.c", "more/b.c", "include/a.h", "more/LICENSE"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    context = make_context(tmp_path, EXTRA, [], {})
    log = write_gcc(context)
    compiled_library.stage(context)
    assert tree(context.root) == ["include/a.h", "lib/liba.so", "share/licenses/a/LICENSE"]
    assert (context.root / "include/a.h").read_text() == "include/a.h"
    sources = context.scratch / "sources"
    lines = log.read_text().splitlines()
    assert f"-ffile-prefix-map={sources}=. -c -O2 -mavx2 a.c -o 0.o" in lines
    assert f"-ffile-prefix-map={sources}=. -c -O2 more/b.c -o 1.o" in lines
    assert lines.count("SOURCE_DATE_EPOCH=1704067200") == 3
    assert [line for line in lines if "-shared" in line and line.endswith("-Wl,-z,defs -lm")]
    assert tree(folder) == ["a.c", "include/a.h", "more/LICENSE", "more/b.c"]


def test_source_packages_are_unpacked_beside_the_own_sources(tmp_path: Path) -> None:
    """Of one that is not ours the recipe names a file to compile, a header and the licence."""
    own = tmp_path / "recipes/a/src/a.c"
    own.parent.mkdir(parents=True)
    own.touch()
    files = {"up-1/b.c": b"", "up-1/b.h": b"b", "up-1/LICENSE": b"BSL"}
    archive = source_archive(tmp_path / "b_1.orig.tar.xz", files)
    objects = [{"file": "a.c"}, {"file": "b/b.c"}]
    extra = {**EXTRA, "objects": objects, "headers": ["b/b.h"], "licences": ["b/LICENSE"]}
    context = make_context(
        tmp_path, extra, [{"suite": "s", "sources": ["b"]}], {archive.name: archive}
    )
    log = write_gcc(context)
    compiled_library.stage(context)
    assert tree(context.root) == ["include/b.h", "lib/liba.so", "share/licenses/a/LICENSE"]
    assert "-c -O2 b/b.c -o 1.o" in log.read_text()
