from __future__ import annotations

from pathlib import Path

from stacks.channel.staging import thin_front
from stacks.channel.staging.elf import needed
from unit.helpers.staging import make_context, tree, write_gcc

EXTRA = {
    "stage": "thin-front",
    "library": "libblas.so.3",
    "serving": ["libblas_threads.so.1", "libmkl_rt.so.3"],
    "links": {"libblas.so": "libblas.so.3"},
}


def test_the_front_needs_the_library_that_serves(tmp_path: Path) -> None:
    source = tmp_path / "recipes/a/src/complex.c"
    source.parent.mkdir(parents=True)
    source.touch()
    source.with_name("complex.h").touch()
    source.with_name("LICENSE-a").write_text("BSD")
    context = make_context(tmp_path, EXTRA, [], {})
    log = write_gcc(context)
    thin_front.stage(context)
    assert tree(context.root) == [
        "lib/libblas.so",
        "lib/libblas.so.3",
        "share/licenses/a/LICENSE-a",
    ]
    first, second, *_ = needed(context.root / "lib/libblas.so.3")
    assert (first, second) == ("libblas_threads.so.1", "libmkl_rt.so.3")
    command = log.read_text()
    # The library that the others stand in front of, for sources that look for its functions.
    assert '-s -DSERVING="libmkl_rt.so.3" complex.c -o libblas.so.3' in command
    assert "-Wl,-soname,libblas.so.3 -Wl,--as-needed -ldl -lpthread" in command
