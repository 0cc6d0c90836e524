"""Which library PyTensor's default linker calls, and what that costs."""

from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module
from unit.helpers.verification import context

numba_library = suite_module("blas.numba_library")
library = suite_module("blas.library")
bindings = suite_module("blas.bindings")
SCIPYS = "/x/scipy.libs/libscipy_openblas.so"
OURS = "/lib/libblas_threads.so.1"
ALONE = {"name": "openblas", "libraries": ["libblas_threads.so.1"], "alone": True}


def check(
    monkeypatch: pytest.MonkeyPatch, path: str, blas: object = None, gain: float | None = 30
) -> Any:
    calls = [bindings.Binding("/scipy/m.so", "dgemm_", path)]
    monkeypatch.setattr(bindings, "bindings_of", lambda modules: calls)
    monkeypatch.setattr(bindings, "loaded", lambda path: SimpleNamespace())
    monkeypatch.setattr(numba_library.importlib, "import_module", lambda name: None)
    monkeypatch.setattr(numba_library, "is_installed", lambda name: True)
    monkeypatch.setattr(numba_library.machine, "usable_cores", lambda: 8)
    monkeypatch.setattr(numba_library, "gain_of_one_thread", lambda chains: gain)
    monkeypatch.setattr(
        library, "identify", lambda path: library.Library("openblas", "1", None, 8, path)
    )
    locked = {"variant": "v", "framework": "f", "blas": blas}
    where = context(expectation=locked if blas else None)
    where.framework.runs_numba = True
    where.framework.flag = {"linker": "auto"}.get
    return numba_library.check(where)


def test_it_is_skipped_with_another_linker() -> None:
    detail = numba_library.check(context()).detail
    assert detail == "linker=cvm runs C here: numba is not used"


def test_the_flavours_library_passes_and_another_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(monkeypatch, OURS, ALONE).status == "pass"
    found = check(monkeypatch, SCIPYS, ALONE)
    assert found.status == "fail"
    assert found.detail.startswith("expected libblas_threads.so.1; linker=auto runs numba")
    assert found.fix.startswith("not from the lock: scipy, ")


def test_a_flavour_that_keeps_pips_files_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(monkeypatch, SCIPYS, {**ALONE, "alone": False}).status == "pass"


def test_a_diagnosis_says_what_the_threads_cost_and_what_ends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = check(monkeypatch, SCIPYS)
    assert found.status == "fail"
    assert "4 chains at a time start 32 threads on 8 processors" in found.detail
    assert "with one thread each they are 30.0 times as fast here" in found.detail
    assert found.fix.endswith("\nexport OPENBLAS_NUM_THREADS=1")


@pytest.mark.parametrize("gain", [1.2, None])
def test_threads_that_cost_little_or_were_not_measured_are_no_fault(
    monkeypatch: pytest.MonkeyPatch, gain: float | None
) -> None:
    assert check(monkeypatch, SCIPYS, gain=gain).status == "pass"
