"""Which library matrix products call, and whether it is the only one."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from unit.helpers.suite import suite_module
from unit.helpers.verification import context

serving = suite_module("blas.serving")
bindings = suite_module("blas.bindings")
library = suite_module("blas.library")
fixes = suite_module("core.fixes")

COMPILED, NUMPY = "/compiled/module.so", "/site-packages/numpy/core.so"
LOCKED = {"variant": "openblas", "framework": "theano-1.0.5"}
OPENBLAS = {"name": "openblas", "ldflags": "-lopenblas", "libraries": ["libopenblas*"]}


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LD_PRELOAD", "LD_LIBRARY_PATH", "THEANORC"):
        monkeypatch.delenv(name, raising=False)


def check(
    monkeypatch: pytest.MonkeyPatch,
    calls: list[tuple[str, str]],
    *,
    name: str = "openblas",
    scipy: tuple[str, ...] = (),
    **attributes: Any,
) -> Any:
    """Check an environment whose modules make these calls: (module, library)."""
    made = [bindings.Binding(module, "dgemm_", path) for module, path in calls]
    monkeypatch.setattr(serving, "find", lambda context: made)
    monkeypatch.setattr(serving, "_libraries", lambda package: scipy if package == "scipy" else ())
    monkeypatch.setattr(
        library, "identify", lambda path: library.Library(name, "1", None, None, path)
    )
    where = context(has_ldflags=True, **attributes)
    flag = where.framework.flag
    where.framework.flag = lambda key: "/compiled" if key == "compiledir" else flag(key)
    return serving.check(where)


def test_the_framework_calls_a_known_library(monkeypatch: pytest.MonkeyPatch) -> None:
    found = check(monkeypatch, [(COMPILED, "/lib/libopenblas.so")], scipy=("/sp/libx.so",))
    assert found.status == "pass"
    assert found.detail == "openblas 1 (libopenblas.so); scipy uses openblas 1 (libx.so)"


def test_an_unknown_library_fails_in_a_diagnosis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixes.packages, "link_flags", lambda: "-lopenblas")
    found = check(monkeypatch, [(COMPILED, "/lib/libblas.so")], name=library.UNKNOWN)
    assert found.status == "fail"
    assert found.detail.endswith("not known as a library with fast kernels")
    assert "lead to it; put these lines into ~/.theanorc:" in found.fix


def test_products_through_numpy_fail_in_a_diagnosis(monkeypatch: pytest.MonkeyPatch) -> None:
    found = check(monkeypatch, [(NUMPY, "/lib/libopenblas.so")])
    assert (found.status, found.detail) == ("fail", "openblas 1 (libopenblas.so), through NumPy")


def test_no_library_or_several_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "nor NumPy's call any BLAS library" in check(monkeypatch, []).detail
    found = check(monkeypatch, [(COMPILED, "/lib/a.so"), (COMPILED, "/lib/b.so")])
    assert (found.status, found.detail[:15]) == ("fail", "more than one: ")


@pytest.mark.parametrize(
    ("path", "status"), [("/lib/libopenblas.so", "pass"), ("/lib/libblis.so", "fail")]
)
def test_the_expected_library(path: str, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = check(monkeypatch, [(COMPILED, path)], expectation={**LOCKED, "blas": OPENBLAS})
    assert found.status == status
    assert ("expected openblas (libopenblas*); found" in found.detail) == (status == "fail")


def test_the_baseline_goes_through_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    expectation = {**LOCKED, "blas": None}
    found = check(monkeypatch, [(NUMPY, "/lib/x.so")], expectation=expectation)
    assert found.status == "pass"
    found = check(monkeypatch, [(COMPILED, "/lib/x.so")], expectation=expectation)
    assert found.detail == "this is not the baseline: openblas 1 (x.so)"


def test_a_variable_of_the_loader_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/none:/odd")
    found = check(monkeypatch, [(COMPILED, "/odd/x.so")], expectation={**LOCKED, "blas": OPENBLAS})
    assert found.fix == "LD_LIBRARY_PATH leads to /odd/x.so:\nexport LD_LIBRARY_PATH=/none"
    monkeypatch.setenv("LD_PRELOAD", "/odd/x.so")
    found = check(monkeypatch, [(COMPILED, "/odd/x.so")], expectation={**LOCKED, "blas": OPENBLAS})
    assert found.fix == "LD_PRELOAD leads to /odd/x.so:\nunset LD_PRELOAD"


@pytest.mark.parametrize(
    ("ldflags", "is_baseline", "status"),
    [("-lx", False, "pass"), ("", False, "fail"), ("", True, "pass"), ("-lx", True, "fail")],
)
def test_ldflags_are_set_unless_in_the_baseline(
    ldflags: str, is_baseline: bool, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving.native, "link", lambda *arguments: None)
    where = context(is_baseline=is_baseline, folder="/none")
    where.framework.flag = {"blas.ldflags": ldflags}.get
    assert serving.check_ldflags(where).status == status


def ldflags_check(value: str, folder: Path, cxx: str = "g++") -> Any:
    flags = {"blas.ldflags": value, "cxx": cxx}
    where = context(folder=str(folder), is_baseline=False)
    where.framework.flag = flags.get
    return serving.check_ldflags(where)


@pytest.mark.skipif(not shutil.which("g++"), reason="no g++")
def test_flags_that_do_not_link_fail_with_the_linkers_message(tmp_path: Path) -> None:
    found = ldflags_check("-lm -lnothere", tmp_path)
    assert found.status == "fail"
    assert found.detail.startswith("-lm -lnothere does not link: ")
    assert "cannot find -lnothere" in found.detail


@pytest.mark.skipif(not shutil.which("g++"), reason="no g++")
def test_a_folder_that_the_linker_ignores_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "none"
    found = ldflags_check(f"-L{missing} -L{tmp_path} -lm", tmp_path)
    assert (found.status, found.detail) == (
        "pass",
        f"-L{missing} -L{tmp_path} -lm; the linker ignores {missing}, which does not exist",
    )


def test_without_a_compiler_nothing_links(tmp_path: Path) -> None:
    found = ldflags_check("-lm", tmp_path, cxx="")
    assert (found.status, found.detail) == ("fail", "-lm: the framework has no C++ compiler")


LOCKED_BLAS = {"name": "openblas", "ldflags": "-lopenblas", "libraries": ["libopenblas*"]}


def check_one(
    monkeypatch: pytest.MonkeyPatch,
    callers: dict[str, list[str]],
    blas: object = None,
    mapped: tuple[str, ...] = (),
) -> Any:
    monkeypatch.setattr(serving, "callers_of_libraries", lambda context: dict(callers))
    monkeypatch.setattr(serving.bindings, "mapped_files", lambda: dict.fromkeys(mapped, 0))
    monkeypatch.setattr(serving.bindings, "defining", lambda path: "blas" in path)
    monkeypatch.setattr(library, "behind", lambda path: path.replace("/front/", "/lib/"))
    monkeypatch.setattr(
        library, "identify", lambda path: library.Library("openblas", "1", None, None, path)
    )
    locked = {"variant": "v", "framework": "f", "blas": blas}
    where = context(expectation=locked if blas else None)
    where.framework.flag = {"compiledir": "/tmp/compiled"}.get
    return serving.check_one_blas(where)


def test_one_library_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    found = check_one(monkeypatch, {"/lib/libopenblas.so": ["numpy", "theano"]})
    assert (found.status, found.detail) == ("pass", "numpy and theano: openblas 1 (libopenblas.so)")


def test_several_libraries_fail_only_where_one_is_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    callers = {"/lib/libopenblas.so": ["theano"], "/np/libx.so": ["numpy"]}
    found = check_one(monkeypatch, callers)
    assert found.status == "pass"
    assert found.detail.startswith("2 libraries, each with threads of its own: numpy: openblas")
    found = check_one(monkeypatch, callers, {**LOCKED_BLAS, "alone": True})
    assert found.status == "fail"
    # As the checks of files and versions have it: one fault is one row.
    assert found.fix == "put the files back:\n./invoke build --variant v --framework f --repair"


def test_a_front_and_the_library_behind_it_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    callers = {"/lib/libopenblas.so": ["theano"], "/front/libopenblas.so": ["numpy"]}
    found = check_one(monkeypatch, callers, {**LOCKED_BLAS, "alone": True})
    assert found.status == "pass"


def test_a_framework_that_calls_another_library_needs_its_ldflags(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    callers = {"/lib/libopenblas.so": ["numpy"], "/np/libx.so": ["theano"]}
    found = check_one(monkeypatch, callers, {**LOCKED_BLAS, "alone": True})
    assert found.fix == "put the files back:\n./invoke build --variant v --framework f --repair"


def test_a_library_that_nothing_calls_fails_where_one_is_expected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    callers = {"/lib/libopenblas.so": ["numpy", "theano"]}
    mapped = ("/front/libopenblas.so", "/lib/libc.so", "/x/libotherblas.so")
    alone = {**LOCKED_BLAS, "alone": True}
    assert check_one(monkeypatch, callers, alone, mapped[:2]).status == "pass"
    assert check_one(monkeypatch, callers, None, mapped).status == "pass"
    found = check_one(monkeypatch, callers, alone, mapped)
    assert found.status == "fail"
    assert "called by nobody: openblas 1 (libotherblas.so)" in found.detail
    assert found.fix == "put the files back:\n./invoke build --variant v --framework f --repair"
    monkeypatch.setenv("LD_PRELOAD", "/x/libotherblas.so")
    assert check_one(monkeypatch, callers, alone, mapped).fix == (
        "LD_PRELOAD leads to /x/libotherblas.so:\nunset LD_PRELOAD"
    )


def test_a_library_that_numba_loads_when_it_compiles_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mapped: dict[str, int] = {}

    def compile_by_numba(where: Any, dtype: str) -> None:
        mapped["/x/libotherblas.so"] = 0

    monkeypatch.setattr(serving.blas_operations, "by_numba", compile_by_numba)
    monkeypatch.setattr(serving.bindings, "mapped_files", lambda: mapped)
    monkeypatch.setattr(serving.bindings, "defining", lambda path: True)
    monkeypatch.setattr(library, "behind", lambda path: path)
    monkeypatch.setattr(
        library, "identify", lambda path: library.Library("openblas", "1", None, None, path)
    )
    where = context()
    where.framework.flag = {"compiledir": "/tmp/compiled"}.get
    assert serving.uncalled(where, ["/lib/libopenblas.so"]) == []
    where.framework.runs_numba = True
    assert serving.uncalled(where, ["/lib/libopenblas.so"]) == ["/x/libotherblas.so"]


def test_nothing_calls_a_blas_product(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_one(monkeypatch, {}).status == "skip"


def test_callers_are_the_framework_and_packages_but_not_their_libraries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bindings = serving.bindings
    paths = [
        "/tmp/compiled/module.so",
        "/x/site-packages/numpy/core/multiarray.so",
        "/x/site-packages/numpy/linalg/umath.so",
        "/x/site-packages/numpy.libs/libopenblas.so",
        "/usr/lib/libc.so",
    ]
    monkeypatch.setattr(serving, "CALLERS", ("not_installed",))
    monkeypatch.setattr(serving.blas_operations, "compiled", lambda *_: None)
    monkeypatch.setattr(bindings, "mapped_files", lambda: dict.fromkeys(paths, 0))
    monkeypatch.setattr(
        bindings,
        "bindings_of",
        lambda modules: [bindings.Binding(path, "dgemm_", "/lib/blas.so") for path in modules],
    )
    where = context()
    where.framework.flag = {"compiledir": "/tmp/compiled"}.get
    assert serving.callers_of_libraries(where) == {"/lib/blas.so": ["numpy", "theano"]}
