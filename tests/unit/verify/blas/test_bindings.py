"""The libraries that calls of loaded modules end in."""

import _ctypes
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
    ((offset, is_defined),) = bindings.imports(CTYPES)["ffi_call"]
    assert offset > 0 and not is_defined


@pytest.mark.parametrize("is_defined", [True, False])
def test_a_slot_that_leads_to_the_module_itself(
    is_defined: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The function is the module's, or bound lazily and not called yet: the loader knows it."""
    monkeypatch.setattr(bindings, "file_of", lambda address: CTYPES)
    monkeypatch.setattr(bindings, "imports", lambda path: {"ffi_call": [(0, is_defined)]})
    monkeypatch.setattr(bindings, "file_with", lambda handle, symbol: f"/lib/{symbol}.so")
    found = bindings.bindings_of([CTYPES], ("ffi_call",))
    assert [each.library for each in found] == ["/lib/ffi_call.so"] * (not is_defined)


def test_modules_that_are_not_loaded_or_not_elf_have_no_bindings() -> None:
    text = next(path for path in bindings.mapped_files() if not path.endswith(".so"))
    assert bindings.bindings_of(["/nowhere.so", text], ("no_such_symbol",)) == []
    assert bindings.bindings_of_package("not_imported") == []
    assert CTYPES in bindings.modules_below(str(Path(CTYPES).parent))
    assert bindings.modules_below("/nowhere") == []


@pytest.mark.parametrize("data", [b"", b"not an object", b"\x7fELF\x02\x01" + b"\0" * 40])
def test_a_file_that_is_no_shared_object_is_unreadable(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file.so"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"file\.so is no ELF64 shared object"):
        bindings.imports(str(path))
