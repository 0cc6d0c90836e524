"""The libraries that calls of loaded modules end in."""

import _ctypes
import ctypes
import os
from pathlib import Path

import pytest

from unit.helpers.suite import suite_module

bindings = suite_module("blas.bindings")
CTYPES = os.path.realpath(_ctypes.__file__)


def test_a_call_is_bound_to_another_library() -> None:
    (binding,) = bindings.bindings_of([CTYPES], ("ffi_call",))
    assert (binding.module, binding.symbol) == (CTYPES, "ffi_call")
    assert Path(binding.library).name.startswith("libffi")


def test_a_function_of_the_module_itself_is_no_binding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bindings, "file_of", lambda address: CTYPES)
    monkeypatch.setattr(bindings, "imports", lambda path: {"ffi_call": [(0, True)]})
    assert bindings.bindings_of([CTYPES], ("ffi_call",)) == []


def test_a_lazily_bound_function_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bindings, "file_of", lambda address: CTYPES)
    monkeypatch.setattr(bindings, "imports", lambda path: {"ffi_call": [(0, False)]})
    monkeypatch.setattr(bindings, "_lookup", lambda path, symbol: f"/lib/{symbol}.so")
    (binding,) = bindings.bindings_of([CTYPES], ("ffi_call",))
    assert binding.library == "/lib/ffi_call.so"


def test_modules_that_are_not_loaded_or_not_elf_have_no_bindings() -> None:
    text = next(path for path in bindings.mapped_files() if not path.endswith(".so"))
    assert bindings.bindings_of(["/nowhere.so", text], ("no_such_symbol",)) == []


def test_modules_below_a_folder_and_of_a_package() -> None:
    assert CTYPES in bindings.modules_below(str(Path(CTYPES).parent))
    assert bindings.modules_below("/nowhere") == []
    assert bindings.modules_of("not_imported") == []


def test_the_handle_of_a_library_that_is_not_loaded_is_an_error(tmp_path: Path) -> None:
    assert bindings.loaded(CTYPES)
    with pytest.raises(OSError):
        bindings.loaded(str(tmp_path / "lib.so"))


def test_imported_and_defined_symbols() -> None:
    imports = bindings.imports(os.path.realpath(_ctypes.__file__))
    ((offset, defined),) = imports["ffi_call"]
    assert offset > 0 and not defined


def test_the_file_of_an_address() -> None:
    address = ctypes.cast(ctypes.CDLL(None).qsort, ctypes.c_void_p).value
    assert Path(bindings.file_of(address)).name.startswith("libc")
    assert bindings.file_of(0) is None
    assert bindings.file_of(None) is None


@pytest.mark.parametrize("data", [b"", b"not an object", b"\x7fELF\x02\x01" + b"\0" * 40])
def test_a_file_that_is_no_shared_object_is_unreadable(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file.so"
    path.write_bytes(data)
    with pytest.raises(bindings.UnreadableError):
        bindings.imports(str(path))
