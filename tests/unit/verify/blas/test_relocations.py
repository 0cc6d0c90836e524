"""The relocations of shared objects that every Python has."""

import _ctypes
import ctypes
import os
from pathlib import Path

import pytest

from unit.helpers.suite import suite_module

relocations = suite_module("blas.bindings")


def test_imported_and_defined_symbols() -> None:
    imports = relocations.imports(os.path.realpath(_ctypes.__file__))
    ((offset, defined),) = imports["ffi_call"]
    assert offset > 0 and not defined


def test_the_file_of_an_address() -> None:
    address = ctypes.cast(ctypes.CDLL(None).qsort, ctypes.c_void_p).value
    assert Path(relocations.file_of(address)).name.startswith("libc")
    assert relocations.file_of(0) is None
    assert relocations.file_of(None) is None


@pytest.mark.parametrize("data", [b"", b"not an object", b"\x7fELF\x02\x01" + b"\0" * 40])
def test_a_file_that_is_no_shared_object_is_unreadable(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file.so"
    path.write_bytes(data)
    with pytest.raises(relocations.UnreadableError):
        relocations.imports(str(path))
