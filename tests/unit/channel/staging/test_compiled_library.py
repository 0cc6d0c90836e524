from __future__ import annotations

from pathlib import Path

from stacks.channel.staging import compiled_library
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
