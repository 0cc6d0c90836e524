"""Where the calls of a loaded object end, on objects that every Python has."""

import _ctypes
import importlib
import os
from pathlib import Path

import pytest

elf = importlib.import_module("verify.blas.relocations")
mapped = importlib.import_module("verify.blas.bindings")
library = importlib.import_module("verify.blas.library")
process = importlib.import_module("verify.core.process")


def test_a_call_is_followed_to_the_library_that_serves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped, "PRODUCTS", ("ffi_call",))
    (served,) = mapped.servers_of([os.path.realpath(_ctypes.__file__)])
    assert Path(served.library).name.startswith("libffi")
    assert not served.own


def test_a_library_without_known_symbols_is_unknown() -> None:
    path = next(path for path in mapped.mapped_files() if Path(path).name.startswith("libffi"))
    assert library.identify(path).name == library.UNKNOWN
    assert library.describe(library.identify(path)).startswith("reference or unknown (libffi")


@pytest.mark.parametrize("data", [b"", b"not an object", b"\x7fELF\x02\x01" + b"\0" * 40])
def test_what_is_no_shared_object_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file.so"
    path.write_bytes(data)
    with pytest.raises(elf.UnreadableError):
        elf.imports(str(path))


def test_a_program_that_does_not_end_is_ended() -> None:
    done = process.call(["sleep", "60"], 0.1)
    assert done.timed_out
