"""What to do about a failed check."""

import importlib
from pathlib import Path

import pytest

from unit.helpers.verification import context

fixes = importlib.import_module("verify.core.fixes")


@pytest.fixture
def no_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixes.sys, "prefix", str(tmp_path))
    monkeypatch.setattr(fixes, "system_libraries", lambda: ["libm.so.6"])
    monkeypatch.delenv("THEANORC", raising=False)


def test_the_cause_in_a_compilers_message_is_shown() -> None:
    error = ImportError("Compilation failed:\nld: cannot find -lopenblas\ncollect2: exit 1\n")
    assert fixes.explain(error) == "ImportError: ld: cannot find -lopenblas"


def test_the_hashed_file_name_of_a_compiled_module_is_left_out() -> None:
    error = ImportError(f"/tmp/x/m{'0a' * 32}.so: undefined symbol: dgemm_")
    assert fixes.explain(error) == "ImportError: undefined symbol: dgemm_"


def test_an_error_without_a_message() -> None:
    assert fixes.explain(MemoryError()) == "MemoryError: "


def test_the_last_configuration_file_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THEANORC", "/etc/theanorc:/home/me/theanorc")
    assert fixes.config_file(context()) == "/home/me/theanorc"
    monkeypatch.delenv("THEANORC")
    assert fixes.config_file(context()) == "~/.theanorc"


def test_a_library_in_the_prefix_is_linked_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "lib"
    library.mkdir()
    (library / "libopenblas.so.0").touch()
    monkeypatch.setattr(fixes.sys, "prefix", str(tmp_path))
    assert fixes.blas_link_flags() == f"-L{library} -l:libopenblas.so.0 -Wl,-rpath,{library}"


@pytest.mark.parametrize(
    ("libraries", "flag"),
    [
        (["libblis.so", "libopenblas.so"], "-lopenblas"),
        (["libblis.so.4", "libm.so.6"], "-l:libblis.so.4"),
        (["libblas.so.3"], None),
    ],
)
def test_a_library_of_the_system_is_linked_by_name(
    libraries: list[str], flag: str | None, no_library: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fixes, "system_libraries", lambda: libraries)
    assert fixes.blas_link_flags() == flag


def test_without_any_library_the_fix_names_the_package_to_install(no_library: None) -> None:
    fix = fixes.ldflags_fix(context())
    assert "libopenblas-dev" in fix
    assert fix.endswith("put these lines into ~/.theanorc:\n[blas]\nldflags = -lopenblas")


def test_ldflags_in_the_flags_variable_are_removed_first(no_library: None) -> None:
    fix = fixes.ldflags_fix(context(user_flags="blas.ldflags="))
    assert "then remove blas.ldflags from THEANO_FLAGS, then put these lines" in fix


def test_an_environments_own_ldflags_are_put_back(no_library: None) -> None:
    expectation = {"blas": {"ldflags": "-lmkl_rt"}}
    assert fixes.ldflags_fix(context(expectation=expectation)) == (
        "put the environment's own setting back into ~/.theanorc:\n[blas]\nldflags = -lmkl_rt"
    )


def test_an_environments_own_ldflags_come_back_when_the_flags_variable_has_none() -> None:
    expectation = {"blas": {"ldflags": "-lmkl_rt"}}
    fix = fixes.ldflags_fix(context(expectation=expectation, user_flags="blas.ldflags=-lx"))
    assert fix == "remove blas.ldflags from THEANO_FLAGS"


def test_a_missing_compiler_is_installed_or_its_flag_removed(no_library: None) -> None:
    assert fixes.compiler_fix(context(user_flags="mode=x, cxx=")) == "remove cxx= from THEANO_FLAGS"
    assert "Ubuntu: g++" in fixes.compiler_fix(context(user_flags="gcc.cxxflags=-O3"))
