"""What to do about a failed check."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from unit.helpers.verification import context

fixes = importlib.import_module("verify.core.fixes")


OWN = {"variant": "mkl", "framework": "theano-1.0.5", "flags": {"blas.ldflags": "-lmkl_rt"}}


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Give the function that has nothing but these programs on PATH."""

    def have(*names: str) -> None:
        folder = tmp_path / "-".join(names)
        folder.mkdir()
        for name in names:
            (folder / name).touch(0o755)
        monkeypatch.setenv("PATH", str(folder))

    return have


@pytest.fixture
def no_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixes.sys, "prefix", str(tmp_path))
    monkeypatch.setattr(fixes.packages, "system_libraries", lambda: ["libm.so.6"])
    for name in ("THEANORC", "MKLROOT"):
        monkeypatch.delenv(name, raising=False)


def test_the_cause_in_a_compilers_message_is_shown() -> None:
    error = ImportError("Compilation failed:\nld: cannot find -lopenblas\ncollect2: exit 1\n")
    assert fixes.explain(error) == "ImportError: ld: cannot find -lopenblas"


def test_the_hashed_file_name_of_a_compiled_module_is_left_out() -> None:
    error = ImportError(f"/tmp/x/m{'0a' * 32}.so: undefined symbol: dgemm_")
    assert fixes.explain(error) == "ImportError: undefined symbol: dgemm_"


def test_an_error_without_a_message() -> None:
    assert fixes.explain(MemoryError()) == "MemoryError: "


def test_a_library_in_the_prefix_is_linked_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "lib"
    library.mkdir()
    (library / "libopenblas.so.0").touch()
    monkeypatch.setattr(fixes.sys, "prefix", str(tmp_path))
    assert fixes.packages.link_flags() == f"-L{library} -l:libopenblas.so.0 -Wl,-rpath,{library}"


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
    monkeypatch.setattr(fixes.packages, "system_libraries", lambda: libraries)
    assert fixes.packages.link_flags() == flag


@pytest.mark.parametrize("inner", ["lib", "lib/intel64"])
def test_the_mkl_of_intel_s_installer_is_linked_by_its_path(
    inner: str, no_library: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mkl" / inner
    folder.mkdir(parents=True)
    (folder / "libmkl_rt.so").touch()
    monkeypatch.setenv("MKLROOT", str(tmp_path / "mkl"))
    assert fixes.packages.link_flags() == f"-L{folder} -lmkl_rt -Wl,-rpath,{folder}"
    (folder / "libmkl_rt.so").unlink()
    assert fixes.packages.link_flags() is None


def test_without_any_library_the_fix_installs_one(
    programs: Callable[..., None], no_library: None
) -> None:
    programs("apt")
    fix = fixes.ldflags_fix(context())
    assert fix.startswith(
        "there is no BLAS to link with: install OpenBLAS:\napt install libopenblas-dev\n"
        "then put these lines into ~/.theanorc:\n[blas]\nldflags = -lopenblas\n"
        "or, without root, MKL:"
    )


def test_ldflags_in_the_flags_variable_are_removed_first(no_library: None) -> None:
    fix = fixes.ldflags_fix(context(user_flags="blas.ldflags="))
    assert "then remove blas.ldflags from THEANO_FLAGS, then put these lines" in fix


def test_a_line_fits_the_file_as_it_is(
    no_library: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "theanorc"
    monkeypatch.setenv("THEANORC", str(path))
    where = context(user_flags="blas.ldflags=-lx")
    # The frameworks do not read a file that has a section, or an option, twice.
    for content, fix in {
        "[blas]\nldflags = -lx\n": f"in {path}, put ldflags = -la",
        "[blas]\n": f"put this line into {path}, below [blas]:\nldflags = -la",
        "[global]\n": f"put these lines into {path}:\n[blas]\nldflags = -la",
    }.items():
        path.write_text(content)
        assert fixes.setting_fix(context(), "blas.ldflags", "-la") == fix
        removed = f"remove blas.ldflags from THEANO_FLAGS, then {fix}"
        assert fixes.setting_fix(where, "blas.ldflags", "-la") == removed


def test_an_environments_own_ldflags_are_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "theanorc"
    path.write_text("[blas]\nldflags =\n")
    # A checkout beside it.
    (tmp_path / "theano-stacks").mkdir()
    own = tmp_path / "etc/theanorc"
    (tmp_path / "etc/theano-stacks").mkdir(parents=True)
    own.write_text("[blas]\nldflags = -lx\n")
    monkeypatch.setenv("THEANORC", f"{own}:{path}")
    fix = fixes.ldflags_fix(context(expectation=OWN, user_flags="blas.ldflags=-lx"))
    assert fix == (f"remove blas.ldflags=-lx from THEANO_FLAGS\nin {path}, put ldflags = -lmkl_rt")
    path.unlink()
    repair = "put the files back:\n./invoke build --variant mkl --repair"
    assert fixes.ldflags_fix(context(expectation=OWN)) == repair


@pytest.mark.parametrize(
    ("beside", "program"), [("invoke", "./invoke"), ("stacks", "theano-stacks"), ("none", None)]
)
def test_the_command_that_puts_files_back(
    beside: str, program: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(fixes.REPAIR_VARIABLE, raising=False)
    (tmp_path / beside).mkdir()
    monkeypatch.setattr(fixes.process, "SUITE", str(tmp_path / "verify"))
    pytensor = {"variant": "mkl", "framework": "pytensor-3.3.7"}
    for expectation, words in (
        # A bare name builds for Theano 1.0.5.
        (OWN, "--variant mkl --repair"),
        (pytensor, "--variant mkl --framework pytensor-3.3.7 --repair"),
        (None, "--variant NAME --framework FRAMEWORK --repair"),
    ):
        expected = f"put the files back:\n{program} build {words}" if program else fixes.OF_IMAGE
        assert fixes.repair_fix(expectation) == expected
    monkeypatch.setenv(fixes.REPAIR_VARIABLE, "theano-stacks build --variant stack.yaml --repair")
    assert fixes.repair_fix(OWN).endswith("\ntheano-stacks build --variant stack.yaml --repair")


def test_a_missing_compiler_is_installed_or_its_flag_removed(
    programs: Callable[..., None], no_library: None
) -> None:
    programs("apt")
    root, without_root = fixes.compiler_fix(context()).split("\nor, without root, ")
    assert root.startswith("install a C++ compiler:\napt install g++")
    assert (
        without_root == "take an environment that has all of it:\n./invoke build --variant openblas"
    )
    programs("g++")
    assert fixes.compiler_fix(context(user_flags="mode=x, cxx=")) == "remove cxx= from THEANO_FLAGS"


def test_a_compiler_that_a_file_turns_off(
    programs: Callable[..., None], no_library: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "theanorc"
    monkeypatch.setenv("THEANORC", str(path))
    path.write_text("[global]\ncxx =\n")
    programs("g++")
    assert fixes.compiler_fix(context()) == f"remove from {path}:\n[global]\ncxx = "


@pytest.mark.parametrize(
    ("conda", "pip", "fix"),
    [
        ("numpy-1.0-0.json", True, "\nconda install 'libblas=*=*openblas'"),
        ("python-3.9-0.json", True, "\n'/a b/python' -m pip install --force-reinstall --no-deps "),
        (None, False, "\nuv pip install --python '/a b/python' --reinstall --no-deps "),
    ],
)
def test_numpy_comes_from_where_it_came(
    conda: str | None, pip: bool, fix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if conda:
        (tmp_path / "conda-meta").mkdir()
        (tmp_path / "conda-meta" / conda).touch()
    numpy = SimpleNamespace(__file__=str(tmp_path / "numpy/__init__.py"), __version__="2.1")
    monkeypatch.setitem(sys.modules, "numpy", numpy)
    monkeypatch.setattr(fixes.sys, "prefix", str(tmp_path))
    monkeypatch.setattr(fixes.sys, "executable", "/a b/python")
    monkeypatch.setattr(fixes.packages, "is_installed", lambda name: pip)
    monkeypatch.setattr(fixes.sys, "base_prefix", str(tmp_path))
    monkeypatch.setattr(fixes.packages.sysconfig, "get_path", lambda name: str(tmp_path))
    assert fix in fixes.numpy_fix()
    (tmp_path / "EXTERNALLY-MANAGED").touch()
    assert conda == "numpy-1.0-0.json" or " --break-system-packages --no-deps" in fixes.numpy_fix()
    # pip writes into a virtual environment.
    monkeypatch.setattr(fixes.sys, "prefix", str(tmp_path / "venv"))
    assert "--break-system-packages" not in fixes.numpy_fix()


def test_an_optimisation_that_a_person_leaves_out_comes_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("THEANORC", "")
    made = context(
        user_flags="optimizer_excluding=BlasOpt", serving=None, has_ldflags=True, expectation=OWN
    )
    made.framework.flag = {"optimizer_excluding": "BlasOpt"}.get
    assert fixes.library_fix(made) == "remove optimizer_excluding=BlasOpt from THEANO_FLAGS"
    # Others have nothing to do with BLAS.
    made.user_flags = "optimizer_excluding=conv_gemm:fusion"
    made.framework.flag = {"optimizer_excluding": "conv_gemm:fusion"}.get
    assert "optimizer_excluding" not in fixes.library_fix(made)
