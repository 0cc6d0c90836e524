"""What sets a flag, and what to do about a failed check."""

import errno
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY
from unit.helpers.verification import context
from unit.verify.core.test_causes import facts
from verify.core import causes, fixes, packages
from verify.core import configuration as config_files

OWN = {"variant": "mkl", "framework": "theano-1.0.5", "flags": {"blas.ldflags": "-lmkl_rt"}}
Patch = pytest.MonkeyPatch


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: Patch) -> Callable[..., None]:
    """Give the function that has nothing but these programs on PATH, and no library."""

    def have(*names: str) -> None:
        folder = tmp_path / "-".join(("programs", *names))
        folder.mkdir()
        for name in names:
            (folder / name).touch(0o755)
        monkeypatch.setenv("PATH", str(folder))

    monkeypatch.setattr(fixes.sys, "prefix", str(tmp_path))
    monkeypatch.setattr(packages, "system_libraries", lambda: ["libm.so.6"])
    for name in ("THEANORC", "MKLROOT"):
        monkeypatch.delenv(name, raising=False)
    return have


@pytest.mark.parametrize(
    ("flags", "found"),
    [
        (
            "a=1,blas.ldflags='-lx -ly', blas__b=2,junk",
            {"a": "1", "blas.ldflags": "-lx -ly", "blas.b": "2"},
        ),
        ("a=1,base_compiledir=/home/o'neil", {"a": "1"}),
    ],
)
def test_flags_are_split_as_the_frameworks_split_them(flags: str, found: dict[str, str]) -> None:
    assert config_files.flags_of(flags) == found


@pytest.mark.parametrize(
    ("file", "system", "flags"),
    [
        ("lib/libopenblas.so.0", [], "-L{folder} -l:libopenblas.so.0 -Wl,-rpath,{folder}"),
        ("mkl/lib/libmkl_rt.so", [], "-L{folder} -lmkl_rt -Wl,-rpath,{folder}"),
        ("mkl/lib/intel64/libmkl_rt.so", [], "-L{folder} -lmkl_rt -Wl,-rpath,{folder}"),
        ("none", ["libblis.so", "libopenblas.so"], "-lopenblas"),
        ("none", ["libblis.so.4", "libm.so.6"], "-l:libblis.so.4"),
        ("none", ["libblas.so.3"], ""),
    ],
)
def test_what_links_the_best_library_that_is_there(
    file: str, system: list[str], flags: str, programs: object, tmp_path: Path, monkeypatch: Patch
) -> None:
    (path := tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    monkeypatch.setenv("MKLROOT", str(tmp_path / "mkl"))
    monkeypatch.setattr(packages, "system_libraries", lambda: system)
    assert packages.link_flags()[:1] == [flags.format(folder=path.parent)] * bool(flags)


@pytest.mark.parametrize(
    ("names", "command"),
    [
        (["conda", "apt"], ":\nconda install gxx"),
        (["apt"], ":\napt install g++"),
        (["dnf"], ":\ndnf install gcc-c++"),
        ([], " (Debian, Ubuntu: g++; Fedora: gcc-c++; conda: gxx)"),
    ],
)
def test_the_system_installs_by_its_own_command(
    names: list[str], command: str, programs: Callable[..., None], tmp_path: Path
) -> None:
    (tmp_path / "conda-meta").mkdir()
    programs(*names)
    assert packages.system_command("g++", "gcc-c++", "gxx") == command


@pytest.mark.parametrize(
    ("module", "version", "variant"),
    [
        ("theano", "1.0.5", "openblas"),
        ("theano", "1.1.2", "theano-pymc-1.1.2/openblas"),
        ("theano", "0.8.2", "theano-0.8.2/openblas"),
        ("aesara", "2.9.3", "aesara-2.8.7/openblas"),
        ("pytensor", "2.30.0", "pytensor-2.38.3/openblas"),
        ("pytensor", "3.4.0", "pytensor-3.3.7/openblas"),
        ("numpy", "2.4", "openblas"),
    ],
)
def test_who_is_not_root_gets_a_compiler_with_an_environment(
    module: str,
    version: str,
    variant: str,
    programs: Callable[..., None],
    tmp_path: Path,
    monkeypatch: Patch,
) -> None:
    programs("apt")
    monkeypatch.setattr(packages.sysconfig, "get_paths", lambda: {"include": str(tmp_path)})
    python = "python{}.{}-dev".format(*sys.version_info)
    lines = packages.compiler_command(module, version).splitlines()
    assert lines[1] == f"apt install g++ {python}"
    assert lines[3] == f"./invoke build --variant {variant}"
    frameworks = [path.stem for path in REPOSITORY.glob("envs/frameworks/*.yaml")]
    assert "/" not in variant or variant.partition("/")[0] in frameworks
    (tmp_path / "Python.h").touch()
    # The suite came without the builder, as in blas-verify.pyz.
    monkeypatch.setattr(packages.process, "SUITE", str(tmp_path / "verify"))
    assert packages.compiler_command(module, version) == ":\napt install g++"


def test_without_any_library_the_fix_installs_one(programs: Callable[..., None]) -> None:
    programs("apt")
    start = "there is no BLAS to link with: install OpenBLAS:\napt install libopenblas-dev\nthen "
    end = "put these lines into ~/.theanorc:\n[blas]\nldflags = -lopenblas\nor, without root, MKL:"
    assert fixes.ldflags_fix(context()).startswith(start + end)
    # What is the case already is no fix.
    fix = fixes.ldflags_fix(context({"blas.ldflags": "-lopenblas", "cxx": "g++"}))
    assert fix.startswith(start.replace("then ", "or, without root, MKL:"))
    assert "theanorc" not in fix
    fix = fixes.ldflags_fix(context(user_flags="blas.ldflags="))
    assert fix.startswith(f"{start}remove blas.ldflags from THEANO_FLAGS, then {end}")


@pytest.mark.parametrize(
    ("beside", "program"), [("invoke", "./invoke"), ("stacks", "theano-stacks"), ("none", None)]
)
def test_the_command_that_puts_files_back(
    beside: str, program: str | None, tmp_path: Path, monkeypatch: Patch
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


def test_pip_is_told_to_write_into_a_python_of_the_system(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    (tmp_path / "EXTERNALLY-MANAGED").touch()
    monkeypatch.setattr(packages.sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setattr(packages.sys, "base_prefix", str(tmp_path))
    for prefix, is_told in ((tmp_path, True), (tmp_path / "venv", False)):
        monkeypatch.setattr(packages.sys, "prefix", str(prefix))
        assert ("--break-system-packages" in packages.pip_command()) is is_told


def test_a_temporary_folder_that_somebody_has_removed() -> None:
    removed = context({}, culprit=None)
    removed.folder = "/removed"
    detail, fix = fixes.explained(removed, AssertionError("/removed/m.so"))
    assert detail.startswith("/removed was removed meanwhile: AssertionError") and "TMPDIR" in fix


def test_a_missing_compiler_is_installed_or_comes_with_an_environment(
    programs: Callable[..., None],
) -> None:
    programs("apt")
    without = context({"blas.ldflags": "-lopenblas", "cxx": ""}, culprit=None)
    fix = fixes.compiler_fix(without)
    assert fix.startswith("install a C++ compiler:\napt install g++")
    assert fix.endswith("an environment that has all of it:\n./invoke build --variant openblas")
    # Without it its fix is that of what it would have done.
    assert fixes.ldflags_fix(without) == fix
    error = AssertionError("/usr/lib/python3.11/distutils/core.py")
    assert fixes.explained(without, error) == (f"AssertionError: {error}", fix)
    assert fixes.explained(without, AssertionError()) == ("AssertionError", fix)
    # So is that of a folder of the flags which is missing.
    made = context({"blas.ldflags": "-L/none -la", "cxx": "g++"}, culprit=None)
    missing = OSError(errno.ENOENT, "No such file", "/none")
    assert fixes.explained(made, missing)[1] == fixes.ldflags_fix(made)
    # One that compiles nothing is no fix.
    programs("apt", "g++")
    assert fixes.compiler_fix(without).startswith("install a C++ compiler again:\n")


@pytest.mark.parametrize("cxx", ["/nowhere/g++", "/nowhere/g++ -m64", "false"])
def test_a_compiler_that_does_not_work_has_the_fix_of_its_setting(cxx: str) -> None:
    """Then what does not compile is a consequence of it."""
    error = OSError(errno.ENOENT, "No such file", "/nowhere/g++")
    culprit = ("a setting in ~/.theanorc", "correct the lines of ~/.theanorc")
    made = context({"cxx": cxx}, user_flags=f"cxx={cxx}", culprit=culprit)
    assert fixes.explained(made, error)[1] == f"remove cxx={cxx} from THEANO_FLAGS"


def test_flags_are_named_that_link_here_and_are_not_in_force(
    programs: object, tmp_path: Path, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(packages, "link_flags", lambda: ["-lx", "-lcut", "-lgood"])
    monkeypatch.setattr(fixes.c_code, "link", lambda *words: "cut" in words[1] and "truncated")
    flags = {"blas.ldflags": "-lx", "cxx": "g++"}
    fix = fixes.ldflags_fix(context(flags, folder=str(tmp_path), has_ldflags=True))
    assert fix.endswith("[blas]\nldflags = -lgood")


def test_a_library_without_a_record_that_was_cut_off_is_named(tmp_path: Path) -> None:
    (folder := tmp_path / "lib").mkdir()
    (folder / "libm.so").write_text("GROUP ( libm.so.6 )")
    (folder / "libgone.so").symlink_to("nowhere")
    whole = Path(sys.modules["_ctypes"].__file__ or "").read_bytes()
    (folder / "liba.so").write_bytes(whole)
    died = "the process died by signal 7 at `importing the framework`"
    assert causes.of(died, facts(prefix=str(tmp_path))) is None
    (folder / "libb.so.1").write_bytes(whole[:4096])
    cause = causes.of(died, facts(prefix=str(tmp_path)))
    assert cause == (f"{folder}/libb.so.1 is cut off", "install again the package that has it")
