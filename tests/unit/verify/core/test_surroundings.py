"""Variables and configuration: what they do to programs; where frameworks compile."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY
from verify.core import configuration as compiling
from verify.core import surroundings


@pytest.mark.parametrize(
    ("names", "values", "unknown"),
    [
        ("PYTHONHOME PYTHONPATH LD_LIBRARY_PATH LD_PRELOAD LD_AUDIT LD_RUN_PATH", "/x", ""),
        ("PIP_DRY_RUN PYTHONSAFEPATH LD_BIND_NOW LD_BIND_NOT LD_SHOW_AUXV", "1", ""),
        ("GCONV_PATH PYTHONEXECUTABLE __PYVENV_LAUNCHER__ _PYTHON_SYSCONFIGDATA_NAME", "/x", ""),
        ("PYTHONMALLOCSTATS NPY_DISABLE_CPU_FEATURES GOMP_DEBUG KMP_VERSION", "1", ""),
        ("PYTHONOPTIMIZE", "1 2", "0"),
        ("PYTHONWARNINGS", "error::DeprecationWarning", "ignore"),
        ("PYTHONMALLOC", "pymalloc_debug malloc", "pymalloc"),
        ("NUMBA_DISABLE_JIT", "1", "0"),
        ("NUMBA_NUM_THREADS", "0 -1", "2"),
        ("NUMBA_OPT", "0", "3"),
        ("MKL_CBWR", "COMPATIBLE", ""),
        ("KMP_DUPLICATE_LIB_OK", "TRUE", "FALSE"),
        ("MKL_INTERFACE_LAYER", "ILP64 GNU,ILP64", "LP64"),
        ("MKL_THREADING_LAYER", "SEQUENTIAL INTEL tbb", "GNU"),
        ("KMP_LIBRARY", "serial", "throughput"),
        ("OMP_DYNAMIC BLIS_JC_NT MKL_DOMAIN_NUM_THREADS", "TRUE", ""),
        ("MALLOC_PERTURB_", "165", "0"),
        (
            "GLIBC_TUNABLES",
            "glibc.cpu.hwcaps=-AVX2 glibc.malloc.perturb=165:x=0 glibc.rtld.optional_static_tls=0",
            "glibc.malloc.check=0",
        ),
        ("OMP_DISPLAY_ENV", "TRUE verbose", "false"),
        ("OMP_NUM_THREADS PIP_INDEX_URL EDITOR", "", "2"),
    ],
)
def test_what_each_value_of_a_variable_does(names: str, values: str, unknown: str) -> None:
    for name in names.split():
        assert all(surroundings.reason_of(name, value) for value in values.split())
        assert surroundings.reason_of(name, unknown) is None


STREAMS = """
import os, subprocess, sys
from verify.core import surroundings
surroundings.open_streams()
print("x"); print("x", file=sys.stderr); sys.stdin.read()
assert subprocess.call(["sh", "-c", "echo x; echo x >&2; cat"]) == 0
open("done", "w").write(str(os.open("/", os.O_RDONLY)))
"""


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- 2>&-", "<&- >&- 2>&-"])
def test_what_is_closed_of_the_standard_streams_leads_nowhere(closed: str, tmp_path: Path) -> None:
    words = ["sh", "-c", f'exec "$0" -c "$1" {closed}', sys.executable, STREAMS]
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    subprocess.run(words, cwd=tmp_path, env=env, stdin=subprocess.DEVNULL, check=True)
    assert int((tmp_path / "done").read_text()) > 2


def test_no_variable_is_named_that_the_environment_sets_itself() -> None:
    code = "import os; from verify.core import surroundings; os.environ['BLIS_ARCH_TYPE'] = '0'; "
    code += "surroundings.note_own(); print(*surroundings.suspects(os.environ))"
    env = {"PYTHONPATH": str(REPOSITORY), "MKL_CBWR": "AVX2"}
    found = subprocess.check_output([sys.executable, "-c", code], env=env, text=True)
    assert found == "MKL_CBWR PYTHONPATH\n"


def test_a_pip_of_the_builder_installs_where_the_builder_says() -> None:
    left = dict.fromkeys(("PIP_TARGET", "PIP_NO_DEPS", "PIP_CONSTRAINT", "PIP_NO_BINARY"), "1")
    environ = surroundings.pip({**left, "PIP_CERT": "/ca"})
    off = {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "PIP_DRY_RUN": "0"}
    assert environ == {"PIP_CERT": "/ca", "PIP_CONSTRAINT": "/dev/null", **off}
    # The script ./invoke runs it by its path.
    code = "import runpy, sys; print(runpy.run_path(sys.argv[1])['pip']({'PIP_USER': '1'}))"
    words = [sys.executable, "-I", "-S", "-c", code, "verify/core/surroundings.py"]
    done = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert "'PIP_USER': '0'" in done.stdout


def test_only_folders_that_hide_something_of_the_environment_are_named(tmp_path: Path) -> None:
    library = tmp_path / "prefix/lib"
    library.mkdir(parents=True)
    (library / "libopenblas.so.0").touch()
    for name in ("cuda/libcudart.so.12", "other/libopenblas.so.0"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    prefix = str(tmp_path / "prefix")
    for folder, hidden in (("cuda", []), ("prefix/lib", []), ("other", ["libopenblas.so.0"])):
        environ = {"LD_LIBRARY_PATH": f"{tmp_path / folder}:/nowhere"}
        assert surroundings.hides(environ, "LD_LIBRARY_PATH", prefix) == hidden
        assert len(surroundings.remarks(environ, prefix)) == len(hidden)


def test_a_path_is_taken_out_by_its_name_or_by_a_link_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    real = str((tmp_path / "folder").resolve())
    monkeypatch.setenv("ODD_PATH", f"/a b:{tmp_path}/link:{real}")
    assert surroundings.without("ODD_PATH", real) == "export ODD_PATH='/a b'"
    monkeypatch.setenv("ODD_PATH", str(tmp_path / "link"))
    assert surroundings.without("ODD_PATH", real) == "unset ODD_PATH"
    assert surroundings.without("ODD_PATH", "/other") is None
    monkeypatch.delenv("ODD_PATH")
    assert surroundings.without("ODD_PATH", real) is None


def test_what_is_loaded_first_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/odd:/none")
    monkeypatch.setenv("LD_PRELOAD", "libm.so.6 /odd/x.so")
    fix = "LD_PRELOAD leads to /odd/x.so:\nexport LD_PRELOAD=libm.so.6"
    assert surroundings.loader_fix(["/odd/x.so"]) == fix
    monkeypatch.setenv("LD_PRELOAD", "libm.so.6")
    fix = "LD_LIBRARY_PATH leads to /odd/x.so:\nexport LD_LIBRARY_PATH=/none"
    assert surroundings.loader_fix(["/lib/y.so", "/odd/x.so"]) == fix
    assert surroundings.loader_fix(["/lib/y.so"]) is None


BYTECODE = """
import os, sys
sys.path[:0] = [SUITE, os.getcwd()]
from verify.core import configuration
configuration.keep_bytecode(os.path.join(os.getcwd(), "kept"), *sys.argv[1:])
import colorsys, theano
print(sys.pycache_prefix == os.environ.get("PYTHONPYCACHEPREFIX"), theano.__cached__)
"""


def test_bytecode_is_kept_where_the_environment_has_none(tmp_path: Path) -> None:
    (tmp_path / "theano.py").touch()
    script = BYTECODE.replace("SUITE", repr(str(REPOSITORY)))

    def run(*words: str) -> str:
        command = [sys.executable, "-I", *words]
        return subprocess.check_output(command, cwd=tmp_path, text=True).strip()

    kept = f"{tmp_path}/kept{tmp_path}/theano.{sys.implementation.cache_tag}.pyc"
    assert run("-c", script) == f"True {kept}"
    assert Path(kept).is_file() and not (tmp_path / "__pycache__").exists()
    run("-m", "compileall", "-q", "theano.py")
    Path(kept).unlink()
    own = tmp_path / f"__pycache__/theano.{sys.implementation.cache_tag}.pyc"
    assert run("-c", script) == f"True {own}"
    assert not Path(kept).exists()
    # That of the environment itself, of an earlier verification, serves all the same.
    earlier = tmp_path / "earlier"
    earlier.mkdir()
    shutil.rmtree(tmp_path / "kept")
    assert run("-c", script, str(earlier)) == f"True {kept}"
    library = Path(os.__file__).parent.relative_to(sys.base_prefix)
    assert list((earlier / library).glob("colorsys.*.pyc"))


@pytest.mark.parametrize("place", ["flags", "file"])
def test_a_persons_own_compile_folder_is_not_used(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rc").write_text("[global]\ncompiledir = /mine\n" if place == "file" else "")
    monkeypatch.setenv("AESARARC", f"{tmp_path}/none:{tmp_path}/rc")
    monkeypatch.setenv("AESARA_FLAGS", "compiledir=/mine" if place == "flags" else "")
    compiling.use_compile_folder("/tmp/a", ["aesara"])
    flags = os.environ["AESARA_FLAGS"]
    assert flags.endswith("base_compiledir=/tmp/a,compiledir=/tmp/a/compiledir")


def test_what_a_verification_that_passes_has_compiled_is_kept(tmp_path: Path) -> None:
    verified = compiling.verified_modules({"verified": str(tmp_path / "cache")})
    kept = Path(verified, "numba")
    for name in ("interrupted", "first", "second"):
        link, new = tmp_path / name / "numba", tmp_path / f"{name}-new"
        compiling.use_kept(str(link), str(kept), str(new))
        # Nothing is in the cache before a verification has passed.
        assert kept.exists() == (name == "second")
        (link / name).touch()
        if name != "interrupted":
            compiling.make_private(verified)
            compiling.keep(str(new), str(kept))
    assert sorted(path.name for path in kept.iterdir()) == ["first", "second"]
    # Where it cannot be kept, nothing else fails.
    (tmp_path / "file").touch()
    (tmp_path / "more").mkdir()
    (tmp_path / "more/module").touch()
    compiling.keep(str(tmp_path / "more"), str(tmp_path / "file/gone"))


def test_only_a_folder_that_nobody_else_may_write_has_kept_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever may write there could have another user run a program."""
    expectation = {"verified": str(tmp_path / "cache")}
    monkeypatch.setattr(compiling, "cpu_field", lambda name: "avx2")
    folder = Path(compiling.verified_modules(expectation))
    # Nothing is left of a verification that is interrupted.
    assert not (tmp_path / "cache").exists()
    before = os.umask(0o002)
    compiling.make_private(str(folder))
    os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700 and folder.parent == tmp_path / "cache"
    assert compiling.verified_modules(expectation) == str(folder)
    monkeypatch.setattr(compiling, "cpu_field", lambda name: "avx2 avx512f")
    assert compiling.verified_modules(expectation) != str(folder)
    monkeypatch.setattr(compiling, "cpu_field", lambda name: "avx2")
    folder.chmod(0o770)
    assert compiling.verified_modules(expectation) is None
    folder.chmod(0o700)
    folder.rename(tmp_path / "mine")
    folder.symlink_to(tmp_path / "mine")
    assert compiling.verified_modules(expectation) is None
    # As in an image, which has no cache.
    assert compiling.verified_modules({}) is None
