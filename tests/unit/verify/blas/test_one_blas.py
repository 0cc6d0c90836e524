"""Whether one BLAS library serves the framework, NumPy and SciPy."""

from typing import Any

import pytest

from unit.helpers.suite import suite_module
from unit.helpers.verification import context

one_blas = suite_module("blas.serving")
library = suite_module("blas.library")
OPENBLAS = {"name": "openblas", "ldflags": "-lopenblas", "libraries": ["libopenblas*"]}


def check(
    monkeypatch: pytest.MonkeyPatch,
    callers: dict[str, list[str]],
    blas: object = None,
    mapped: tuple[str, ...] = (),
) -> Any:
    monkeypatch.setattr(one_blas, "callers_of_libraries", lambda context: dict(callers))
    monkeypatch.setattr(one_blas.bindings, "mapped_files", lambda: dict.fromkeys(mapped, 0))
    monkeypatch.setattr(one_blas.bindings, "defining", lambda path: "blas" in path)
    monkeypatch.setattr(library, "behind", lambda path: path.replace("/front/", "/lib/"))
    monkeypatch.setattr(
        library, "identify", lambda path: library.Library("openblas", "1", None, None, path)
    )
    locked = {"variant": "v", "framework": "f", "blas": blas}
    where = context(expectation=locked if blas else None)
    where.framework.flag = {"compiledir": "/tmp/compiled"}.get
    return one_blas.check_one_blas(where)


def test_one_library_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    found = check(monkeypatch, {"/lib/libopenblas.so": ["numpy", "theano"]})
    assert (found.status, found.detail) == ("pass", "numpy and theano: openblas 1 (libopenblas.so)")


def test_several_libraries_fail_only_where_one_is_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    callers = {"/lib/libopenblas.so": ["theano"], "/np/libx.so": ["numpy"]}
    found = check(monkeypatch, callers)
    assert found.status == "pass"
    assert found.detail.startswith("2 libraries, each with threads of its own: numpy: openblas")
    found = check(monkeypatch, callers, {**OPENBLAS, "alone": True})
    assert found.status == "fail"
    assert found.fix == (
        "not from the lock: numpy, with a BLAS of its own:\n"
        "./invoke build --variant v --framework f --repair"
    )


def test_a_front_and_the_library_behind_it_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    callers = {"/lib/libopenblas.so": ["theano"], "/front/libopenblas.so": ["numpy"]}
    found = check(monkeypatch, callers, {**OPENBLAS, "alone": True})
    assert found.status == "pass"


def test_a_framework_that_calls_another_library_needs_its_ldflags(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    callers = {"/lib/libopenblas.so": ["numpy"], "/np/libx.so": ["theano"]}
    found = check(monkeypatch, callers, {**OPENBLAS, "alone": True})
    assert found.fix == "put the files back:\n./invoke build --variant v --framework f --repair"


def test_a_library_that_nothing_calls_fails_where_one_is_expected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    callers = {"/lib/libopenblas.so": ["numpy", "theano"]}
    mapped = ("/front/libopenblas.so", "/lib/libc.so", "/x/libotherblas.so")
    alone = {**OPENBLAS, "alone": True}
    assert check(monkeypatch, callers, alone, mapped[:2]).status == "pass"
    assert check(monkeypatch, callers, None, mapped).status == "pass"
    found = check(monkeypatch, callers, alone, mapped)
    assert found.status == "fail"
    assert "called by nobody: openblas 1 (libotherblas.so)" in found.detail
    assert found.fix == "put the files back:\n./invoke build --variant v --framework f --repair"
    monkeypatch.setenv("LD_PRELOAD", "/x/libotherblas.so")
    assert check(monkeypatch, callers, alone, mapped).fix == (
        "LD_PRELOAD leads to /x/libotherblas.so:\nunset LD_PRELOAD"
    )


def test_nothing_calls_a_blas_product(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(monkeypatch, {}).status == "skip"


def test_callers_are_the_framework_and_packages_but_not_their_libraries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bindings = one_blas.bindings
    paths = [
        "/tmp/compiled/module.so",
        "/x/site-packages/numpy/core/multiarray.so",
        "/x/site-packages/numpy/linalg/umath.so",
        "/x/site-packages/numpy.libs/libopenblas.so",
        "/usr/lib/libc.so",
    ]
    monkeypatch.setattr(one_blas, "CALLERS", ("not_installed",))
    monkeypatch.setattr(one_blas.blas_operations, "compiled", lambda *_: None)
    monkeypatch.setattr(bindings, "mapped_files", lambda: dict.fromkeys(paths, 0))
    monkeypatch.setattr(
        bindings,
        "bindings_of",
        lambda modules: [bindings.Binding(path, "dgemm_", "/lib/blas.so") for path in modules],
    )
    where = context()
    where.framework.flag = {"compiledir": "/tmp/compiled"}.get
    assert one_blas.callers_of_libraries(where) == {"/lib/blas.so": ["numpy", "theano"]}
