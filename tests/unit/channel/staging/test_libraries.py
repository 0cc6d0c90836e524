from __future__ import annotations

from pathlib import Path

import pytest

from stacks.channel.staging import libraries
from stacks.channel.staging.debian import MULTIARCH
from stacks.core.errors import UsageError
from unit.helpers.staging import deb_context, elf_library, tree

FOLDER = f"usr/lib/{MULTIARCH}"
FILES = {
    f"{FOLDER}/liba.so.1": elf_library(),
    f"{FOLDER}/libb.so.1": b"other",
    "usr/share/doc/liba/copyright": b"MIT",
}


def test_libraries_links_and_licences_are_written(tmp_path: Path) -> None:
    extra = {"stage": "libraries", "libraries": ["liba.so*"], "links": {"liba.so": "liba.so.1"}}
    context = deb_context(tmp_path, extra, FILES)
    libraries.stage(context)
    assert tree(context.root) == ["lib/liba.so", "lib/liba.so.1", "share/licenses/a/liba.copyright"]
    assert b"$ORIGIN" in (context.root / "lib/liba.so.1").read_bytes()


def test_a_library_that_no_deb_has_is_an_error(tmp_path: Path) -> None:
    context = deb_context(tmp_path, {"stage": "libraries", "libraries": ["libc.so*"]}, FILES)
    with pytest.raises(UsageError, match=r"no library libc\.so\*"):
        libraries.stage(context)
