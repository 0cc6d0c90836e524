from __future__ import annotations

from pathlib import Path

import pytest

from stacks.channel.staging import openblas_wheel
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.elf import PATCHELF, exported
from stacks.core.errors import IntegrityError
from stacks.core.process import call
from unit.helpers.staging import elf_library, tree, wheel_context


def context_with(tmp_path: Path, library: bytes) -> BuildContext:
    files = {"lib/libscipy_openblas.so": library, "d/LICENSE.txt": b"BSD"}
    return wheel_context(tmp_path, {"stage": "openblas-wheel"}, files)


def test_the_symbols_lose_their_prefix(tmp_path: Path) -> None:
    library, renames = tmp_path / "libscipy_openblas.so", tmp_path / "renames"
    library.write_bytes(elf_library())
    renames.write_text("PyInit__speedups scipy_dgemm_\n")
    call([PATCHELF, "--rename-dynamic-symbols", renames, library])
    context = context_with(tmp_path, library.read_bytes())
    openblas_wheel.stage(context)
    assert tree(context.root) == [
        "lib/libopenblas.so",
        "lib/libopenblas.so.0",
        "lib/libopenblasp-r1.so",
        "share/licenses/a/LICENSE.txt",
    ]
    assert "dgemm_" in exported(context.root / "lib/libopenblas.so.0")


def test_a_library_without_dgemm_is_refused(tmp_path: Path) -> None:
    context = context_with(tmp_path, elf_library())
    with pytest.raises(IntegrityError, match="its symbols could not be renamed"):
        openblas_wheel.stage(context)
