from __future__ import annotations

from pathlib import Path

import pytest

from stacks.channel.staging import front_libraries
from stacks.channel.staging.debian import MULTIARCH
from stacks.channel.staging.elf import exported, needed
from stacks.core.errors import IntegrityError
from unit.helpers.staging import deb_context, elf_library, tree

FILES = {
    f"usr/lib/{MULTIARCH}/blas/libblas.so.3": elf_library(),
    "usr/share/doc/liba/copyright": b"BSD",
}
EXTRA = {
    "stage": "front-libraries",
    "functions": {"blas/libblas.so.3": {"PyInit__speedups": "init"}},
    "serving": {"blas/libblas.so.3": ["libone.so", "libtwo.so"]},
    "links": {"libblas.so": "libblas.so.3"},
}


def test_functions_are_renamed_and_the_others_hidden(tmp_path: Path) -> None:
    context = deb_context(tmp_path, EXTRA, FILES)
    front_libraries.stage(context)
    assert tree(context.root) == [
        "lib/libblas.so",
        "lib/libblas.so.3",
        "share/licenses/a/liba.copyright",
    ]
    library = context.root / "lib/libblas.so.3"
    assert needed(library)[:2] == ["libone.so", "libtwo.so"]
    assert all(name == "init" or name.startswith("unused_") for name in exported(library))
    assert "init" in exported(library)


def test_a_whole_library_keeps_its_other_functions(tmp_path: Path) -> None:
    library = tmp_path / "liba.so"
    library.write_bytes(elf_library())
    functions = {"PyInit__speedups": "init"}
    assert front_libraries.names_after(library, functions, whole=True) == functions


def test_a_function_that_the_library_lacks_is_an_error(tmp_path: Path) -> None:
    library = tmp_path / "liba.so"
    library.write_bytes(elf_library())
    with pytest.raises(IntegrityError, match=r"liba\.so of the deb has no function dgemm_"):
        front_libraries.names_after(library, {"dgemm_": "dgemm_"}, whole=True)
