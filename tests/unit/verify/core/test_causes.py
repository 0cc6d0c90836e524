"""What an error's own words name, and only where this Python agrees."""

import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stacks.core.disk import REPOSITORY
from verify import context as trial
from verify.core import causes


def facts(
    framework: str = "theano", version: str = "1.0.5", python: tuple[int, int] = (3, 9), **more: Any
) -> Any:
    """Return what is true of a Python that has NumPy 1.22.4 and nothing else, or of another one."""
    made: Any = causes.Facts(framework, version)
    made.python, made.prefix = python, "/nowhere"
    made.is_installed = lambda name: name in ("numpy", "theano")
    made.has_headers = lambda: False
    made.version_of = {"numpy": "1.22.4"}.get
    made.pip = lambda again=False: "pip install" + " --force-reinstall" * again
    made.lost = lambda pattern: None
    vars(made).update(more)
    return made


ITERABLE = "cannot import name 'Iterable' from 'collections'"
NO_BOOL = "module 'numpy' has no attribute 'bool'"
NO_FILE = "cannot open shared object file: No such file or directory"
NO_GOMP = f"/lib/x.so: libgomp.so.1: {NO_FILE}"
DENIED = "cannot open shared object file: Permission denied"
EXECUTABLE = "cannot enable executable stack as shared object requires: Invalid argument"
STATIC = "cannot allocate memory in static TLS block"
FATAL = "Intel MKL FATAL ERROR: Cannot load libmkl_avx512.so.2 or libmkl_def.so.2."
NOEXEC = "/tmp/x/m.so: failed to map segment from shared object: Operation not permitted"
GLIBC = "libc.so.6: version `GLIBC_2.38' not found (required by /site/a.so)"
CIRCULAR = (
    "partially initialized module 'numpy' has no attribute 'array' "
    "(most likely due to a circular import) (/home/a/numpy.py)"
)
LAPACK = "ImportError: /env/lib/a.so: undefined symbol: zhpr_"
SCAN_C = "mod.cpp:1: error: 'PyThreadState' has no member named 'exc_type'"
HALF = "cannot import name 'a' from partially initialized module 'numpy.core' (most likely"
AGAIN = "pip install --force-reinstall --no-deps numpy"
DAMAGED: dict[str, Any] = {"lost": lambda pattern: ("numpy", "1", "numpy/a.so", "is missing")}
NEW: dict[str, Any] = {"version_of": {"numpy": "1.26.4"}.get}
NOTHING, PYTENSOR = facts(is_installed=lambda name: False), facts("pytensor", "2.9", (3, 12))
MSVC = facts(is_installed=lambda name: True, version_of={"setuptools": "82.0"}.get)
SCIPY = facts(frames='File "/x/site-packages/scipy/a.py", line 1')
SIX, MINE = "/x/site-packages/six/a.py", "/x/my file.py"
OPTION = "g++: error: unrecognized command line option '-mfoo'"
REFUSED = 'Invalid value ("float12") for configuration variable "floatX".'


@pytest.mark.parametrize(
    ("text", "true", "what", "fix"),
    [
        (SCAN_C, facts(version="0.9.0", python=(3, 7)), "for Python up to 3.6", "theano==1.0.5"),
        (SCAN_C, facts(python=(3, 12)), "for Python up to 3.9", "pip install pytensor"),
        (SCAN_C, facts(**NEW), "NumPy 1.26.4 is too new for theano 1.0.5", "'numpy<1.23'"),
        ("fatal error: longintrepr.h: No", facts(python=(3, 11)), "for Python up to 3.9", "pyte"),
        ("No module named 'six'", facts(), "six is missing", "pip install six"),
        ("ImportError: No module named yaml", facts(), "PyYAML", "pip install PyYAML"),
        ("No module named 'numpy'", NOTHING, "numpy is missing", "pip install 'numpy<1.23'"),
        ("No module named 'cons.core'", facts(), "package cons is missing", "pip install cons"),
        ("No module named '_lzma'", facts(), "3.9 has no module _lzma", "install another"),
        ("No module named 'distutils.msvccompiler'", MSVC, "setuptools 82", "'setuptools<74'"),
        ("No module named 'distutils'", PYTENSOR, "no module distutils", "install setuptools"),
        ("No module named 'imp'", facts(python=(3, 12)), "has no module imp", "pytensor"),
        (ITERABLE, facts(version="0.9.0", python=(3, 10)), "has no Iterable", "pytensor"),
        (NO_BOOL, facts(**NEW), "1.26.4 is too new", "'numpy<1.23'"),
        (NO_BOOL, facts(python=(3, 12), **NEW), "3.9", "pytensor"),
        ("numpy.dtype size changed, may indicate binary", facts(**NEW), "too new", "'numpy<1.23'"),
        (NO_GOMP, facts(), "libgomp.so.1 is missing", "libgomp"),
        ("/site/m.so: undefined symbol: PyUnicodeUCS4_Join", facts(), "another Python", "again"),
        ("/site/m.so: undefined symbol: dgemm_", facts(), "BLAS's dgemm_", "ldflags = "),
        ("m.so: undefined symbol: mkl_serv_x", facts(), "lack mkl_serv_x", "ldflags = -lmkl_rt"),
        ("/l/libmkl_gnu_thread.so.2: undefined symbol: GOMP_x", facts(), "lack GOMP_x", "-lmkl_rt"),
        (FATAL, facts(ldflags="-lmkl_intel_lp64 -lmkl_core"), "FATAL", "ldflags = -lmkl_rt"),
        (FATAL.upper(), facts(ldflags="-lmkl_rt"), "FATAL ERROR", "install MKL again"),
        # A file that an installer has recorded, and that is gone.
        ("No module named 'numpy.core.a'", facts(**DAMAGED), "its file numpy/a.so", AGAIN),
        (f"liba.so: {NO_FILE}", facts(**DAMAGED), "numpy is damaged", AGAIN),
        (HALF, facts(**DAMAGED), "numpy is damaged", AGAIN),
        ("the process died by signal 7 at `a`", facts(**DAMAGED), "numpy is damaged", AGAIN),
        (LAPACK, facts(prefix="/env"), "/env/lib/a.so loads has zhpr_", "install its package"),
        # In an environment of the builder's nothing else installs.
        ("No module named 'six'", facts(repair="build --repair"), "six", "build --repair"),
        (f"/site/a.so: {DENIED}", facts(), "/site/a.so may not be read", "chmod"),
        (f"a.so: {EXECUTABLE}", facts(), "executable stack", "--clear-execstack a.so"),
        (f"/x/g.so: {STATIC}", facts(), "loaded too late", "export LD_PRELOAD=/x/g.so"),
        ("OSError: [Errno 24] Too many open files: '/x'", facts(), "files are open", "-n"),
        ("/x/bin/g++: 2: Cannot fork", facts(), "no more processes", ""),
        ("OSError: [Errno 8] Exec format error: '/x/g++'", facts(), "/x/g++ is no program", ""),
        ("[Errno 116] Stale file handle: '/home/x'", facts(), "Stale file handle", "dmesg"),
        ("OSError: [Errno 28] No space left on device", facts(), "full", "free some space"),
        (NOEXEC, facts(), "nothing may run in /tmp/x (noexec)", "TMPDIR"),
        ("[Errno 13] Permission denied: '/home/a/.theano'", facts(), "/home/a/.theano", "yours"),
        (GLIBC, facts(), "a.so needs glibc 2.38", "older systems"),
        ("RuntimeError: module compiled against API version 0xe", SCIPY, "scipy was", AGAIN[:-5]),
        ("a.c:1: fatal error: Python.h: No such file or directory", facts(), "header", "python3.9"),
        (OPTION, facts(user_flags="gcc.cxxflags='-O2 -mfoo'"), "-mfoo", "gcc.cxxflags in THEANO"),
        (REFUSED, facts(user_flags="floatX=float12"), "a value in THEANO_FLAGS", "correct floatX"),
        *(
            (f"OSError: /x/a.so: {words}", facts(), f"/x/a.so {what}", "install again")
            for words, what in (
                ("file too short", "is cut off"),
                ("invalid ELF header", "is no library"),
                ("wrong ELF class: ELFCLASS32", "is for another kind of"),
            )
        ),
        ("virtual memory exhausted: Cannot allocate memory", facts(), "memory ran out", ""),
        (f"SyntaxError: EOF in string in {SIX}, line 3", facts(), f"{SIX} is cut off", "pip"),
        # It may be the user's own mistake.
        (f"SyntaxError: unterminated string in {MINE}, line 3", facts(), MINE, "correct the file"),
        (f"ld: cannot find -lpython3.9: {NO_FILE}", facts(), "Python's library", "python3.9-dev"),
        (CIRCULAR, facts(), "/home/a/numpy.py hides", "rename it"),
        *(
            (f"{words}{end}", facts(), "/rc is not a valid configuration file", "correct, or rem")
            for words, end in (
                ("File contains no section headers.\nfile: '/rc'", ", line: 1"),
                ("File contains no section headers.\nfile: PosixPath('/rc')", ", line: 1"),
                ("Source contains parsing errors: '/rc'", "\n\t[line  1]: 'x'"),
                ("While reading from '/rc'", " [line  2]: section 'blas' already exists"),
            )
        ),
    ],
)
def test_a_cause_and_its_fix(text: str, true: Any, what: str, fix: str) -> None:
    cause = causes.of(text, true)
    assert cause is not None
    assert what in cause.what
    assert fix in cause.fix


@pytest.mark.parametrize(
    ("text", "true"),
    [
        # The fix would be what is already the case.
        (NO_BOOL, facts()),
        (SCAN_C, facts(python=(3, 9))),
        ("No module named 'imp'", facts(is_installed=lambda name: True)),
        ("the sky is green", facts()),
        ("undefined symbol: my_function", facts()),
        ("fatal error: Python.h: No such file", facts(has_headers=lambda: True)),
        (OPTION, facts(user_flags="gcc.cxxflags=-O2")),
        (REFUSED, facts(user_flags="mode=x")),
        ("RuntimeError: module compiled against API version 0xe", facts()),
    ],
)
def test_what_does_not_agree_is_not_recognised(text: str, true: Any) -> None:
    assert causes.of(text, true) is None


@pytest.mark.parametrize(
    ("kind", "text", "what"),
    [
        (resource.RLIMIT_FSIZE, "File too large", "a file may not become so large: ulimit -f"),
        (resource.RLIMIT_AS, "pthread_create failed", "no more processes may start: ulimit -v"),
    ],
)
def test_a_limit_is_in_the_unit_of_ulimit(kind: int, text: str, what: str) -> None:
    before = resource.getrlimit(kind)
    resource.setrlimit(kind, (1 << 40, before[1]))
    try:
        cause = causes.of(text, facts())
    finally:
        resource.setrlimit(kind, before)
    assert cause.what.startswith(f"{what} is {1 << 30} KiB")


@pytest.mark.parametrize(
    "text",
    [
        "`timing the import` made no progress for 1200 s and was killed",
        "ImportError: /x/y.so: failed to map segment from shared object",
    ],
)
@pytest.mark.parametrize(
    ("limit", "what"),
    [
        (600_000 << 10, "memory ran out: ulimit -v is 600000 KiB"),
        # It has another reason.
        (1 << 35, None),
        (resource.RLIM_INFINITY, None),
    ],
)
def test_with_little_memory_a_thread_hangs_and_a_module_is_not_loaded(
    limit: int, what: str | None, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (limit, limit))
    monkeypatch.setattr(causes.machine, "cgroup_files", lambda *names: [])
    cause = causes.of(text, facts())
    assert (cause and cause.what) == what


def test_what_is_the_case_already_is_no_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder := tmp_path / "lib").mkdir()
    (folder / "libgomp.so.1").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", "/other")
    true = facts(prefix=str(tmp_path))
    assert causes.of(NO_GOMP, true).fix == f"export LD_LIBRARY_PATH={folder}:/other"
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{folder}")
    assert causes.of(NO_GOMP, true).what == "the library libgomp.so.1 is missing"
    # Of the shell's limit and a container's the lower one counts.
    limits = [("/c/pids.max", "7"), ("/pids.max", "max")]
    monkeypatch.setattr(causes.machine, "cgroup_files", lambda *names: limits)
    cause = causes.of("RuntimeError: can't start new thread", true)
    assert cause == ("no more processes may start: /c/pids.max is 7", causes.CONTAINER)


def test_a_wrong_syntax_names_the_file() -> None:
    error = SyntaxError("invalid syntax", (SIX, 3, 1, "async = 1"))
    cause = causes.of_error(error, facts("pytensor"))
    assert cause.what == f"{SIX} is written for another Python than 3.9"


OPTIMISED = "def f():\n    'text'\nf.__doc__ + ''"
PRELOADED = "#include <stdlib.h>\n__attribute__((constructor)) void f(void) { _Exit(3); }"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with a broken module, a good one, and a library that ends programs."""
    folder = tmp_path_factory.mktemp("folder")
    for name in ("good", "bad", "mine"):
        (folder / name).mkdir()
    (folder / "bad/json.py").write_text("raise ImportError('mine')")
    (folder / "mine/provided.py").touch()
    (folder / "bad.c").write_text(PRELOADED)
    library = folder / "bad.so"
    subprocess.run(["cc", "-shared", "-fPIC", folder / "bad.c", "-o", library], check=True)
    return folder


@pytest.mark.parametrize(
    ("code", "environ", "what", "fix"),
    [
        (OPTIMISED, "PYTHONOPTIMIZE=2", "PYTHONOPTIMIZE=2, which ", "unset PYTHONOPTIMIZE"),
        ("import warnings; warnings.warn('x')", "PYTHONWARNINGS=error OMP_NUM_THREADS=1",
         "PYTHONWARNINGS=error, which ", "unset PYTHONWARNINGS"),
        # Of a list the folder that matters is named.
        ("import json", "PYTHONPATH={0}/good:{0}/bad", "{0}/bad in PYTHONPATH",
         "export PYTHONPATH={0}/good"),
        ("pass", "LD_PRELOAD={0}/bad.so", "{0}/bad.so in LD_PRELOAD", "unset LD_PRELOAD"),
        ("import os; assert 'bad' not in os.environ['THEANO_FLAGS'], 1",
         "flags=floatX=float32,mode=bad", "mode=bad in THEANO_FLAGS",
         "remove mode=bad from THEANO_FLAGS"),
        ("import os; assert os.environ['THEANORC'] == os.devnull", "THEANORC=/my/rc",
         "a setting in /my/rc", "correct the lines of /my/rc"),
        ("import os; number = os.environ.get('OMP_NUM_THREADS', '2')\n"
         "if number != '2': raise TypeError('OMP_NUM_THREADS should be a number')",
         "OMP_NUM_THREADS=2,2", "OMP_NUM_THREADS=2,2, which the error names",
         "unset OMP_NUM_THREADS"),
        # A variable that brings a package is not the cause of another error.
        ("import provided; raise ValueError('another')", "PYTHONPATH={0}/mine", None, None),
    ],
)  # fmt: skip
def test_the_variable_or_setting_without_which_a_program_runs(
    code: str, environ: str, what: str | None, fix: str | None, folder: Path
) -> None:
    pairs = [each.partition("=")[::2] for each in environ.format(folder).split()]
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(folder)} | dict(pairs)
    flags = variables.pop("flags", "")
    found = trial.find_culprit(code, "theano", str(folder), flags, variables)
    if what is None or fix is None:
        assert found is None
    else:
        assert found[0].startswith(what.format(folder)) and found[1] == fix.format(folder)


@pytest.mark.parametrize("rest", ["", "\nraise ValueError('no BLAS to link with')"])
def test_an_option_of_python_is_the_cause(rest: str, tmp_path: Path) -> None:
    """Also where the program fails without it, for another reason."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); from verify import context as trial; "
        f"print(trial.find_culprit({OPTIMISED + rest!r}, 'theano', {str(tmp_path)!r}))"
    )
    words = [sys.executable, "-OO", "-c", program, str(REPOSITORY)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "Python's options -OO" in done.stdout
