from __future__ import annotations

from pathlib import Path

from stacks.channel.staging import forwarding_library
from stacks.channel.staging.elf import needed
from unit.helpers.staging import make_context, tree, write_gcc


def test_the_library_needs_the_one_that_it_stands_for(tmp_path: Path) -> None:
    extra = {"stage": "forwarding", "library": "libcuda.so", "stands_for": "libcuda.so.1"}
    licence = tmp_path / "recipes/a/src/LICENSE-a"
    licence.parent.mkdir(parents=True)
    licence.write_text("BSD")
    context = make_context(tmp_path, extra, [], {})
    write_gcc(context)
    forwarding_library.stage(context)
    assert tree(context.root) == ["lib/libcuda.so", "share/licenses/a/LICENSE-a"]
    assert needed(context.root / "lib/libcuda.so")[0] == "libcuda.so.1"
