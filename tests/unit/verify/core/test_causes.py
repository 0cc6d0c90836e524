"""What an error's own words name, and only where this Python agrees."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stacks.core.disk import REPOSITORY

causes = importlib.import_module("verify.core.causes")
trial = importlib.import_module("verify.context")


def facts(
    framework: str = "theano", version: str = "1.0.5", python: tuple[int, int] = (3, 9), **more: Any
) -> Any:
    """Return what is true of a Python that has NumPy 1.22.4 and nothing else, or of another one."""
    made = causes.Facts(framework, version)
    made.python, made.prefix = python, "/nowhere"
    made.is_installed = lambda name: name in ("numpy", "theano")
    made.version_of = {"numpy": "1.22.4"}.get
    made.pip = lambda again=False: "pip install" + " --force-reinstall" * again
    vars(made).update(more)
    return made


SCAN_C = "mod.cpp:1: error: 'PyThreadState' has no member named 'exc_type'"
NEW: dict[str, Any] = {"version_of": {"numpy": "1.26.4"}.get}


@pytest.mark.parametrize(
    ("text", "true", "what", "fix"),
    [
        (SCAN_C, facts(version="0.9.0", python=(3, 7)), "for Python up to 3.6", "theano==1.0.5"),
        (SCAN_C, facts(python=(3, 12)), "for Python up to 3.9", "pip install pytensor"),
        ("No module named 'six'", facts(), "six is missing", "pip install six"),
        ("ImportError: No module named yaml", facts(), "PyYAML", "pip install PyYAML"),
        ("No module named 'imp'", facts(python=(3, 12)), "has no module imp", "pytensor"),
        (
            "cannot import name 'Iterable' from 'collections'",
            facts(version="0.9.0", python=(3, 10)),
            "has no Iterable",
            "pytensor",
        ),
        (
            "module 'numpy' has no attribute 'bool'",
            facts(**NEW),
            "1.26.4 is too new",
            "'numpy<1.23'",
        ),
        ("module 'numpy' has no attribute 'bool'", facts(python=(3, 12), **NEW), "3.9", "pytensor"),
        (
            "/lib/x.so: libgomp.so.1: cannot open shared object file: No such file or directory",
            facts(),
            "libgomp.so.1 is missing",
            "libgomp",
        ),
        ("/site/m.so: undefined symbol: PyUnicodeUCS4_Join", facts(), "another Python", "again"),
        ("/site/m.so: undefined symbol: dgemm_", facts(), "BLAS's dgemm_", "blas.ldflags"),
        ("m.so: undefined symbol: mkl_serv_x", facts(), "lack mkl_serv_x", "ldflags = -lmkl_rt"),
        (
            "Intel MKL FATAL ERROR: Cannot load libmkl_avx512.so.2 or libmkl_def.so.2.",
            facts(ldflags="-lmkl_intel_lp64 -lmkl_core"),
            "FATAL ERROR",
            "ldflags = -lmkl_rt",
        ),
        (
            "INTEL MKL FATAL ERROR: Cannot load libmkl_def.so.",
            facts(ldflags="-lmkl_rt"),
            "FATAL ERROR",
            "install MKL again",
        ),
        ("OSError: [Errno 28] No space left on device", facts(), "full", "free some space"),
        (
            "/tmp/x/m.so: failed to map segment from shared object: Operation not permitted",
            facts(),
            "nothing may run in /tmp/x",
            "TMPDIR",
        ),
        ("[Errno 13] Permission denied: '/home/a/.theano'", facts(), "/home/a/.theano", "yours"),
        (
            "libc.so.6: version `GLIBC_2.38' not found (required by /site/a.so)",
            facts(),
            "a.so needs glibc 2.38",
            "older systems",
        ),
        ("RuntimeError: module compiled against API version 0xe", facts(), "NumPy", "again"),
        ("a.c:1: fatal error: Python.h: No such file or directory", facts(), "header", "python3.9"),
        ("g++: error: unrecognized command line option '-mfoo'", facts(), "-mfoo", "gcc.cxxflags"),
        ("virtual memory exhausted: Cannot allocate memory", facts(), "memory", "ulimit"),
        (
            "partially initialized module 'numpy' has no attribute 'array' "
            "(most likely due to a circular import) (/home/a/numpy.py)",
            facts(),
            "/home/a/numpy.py hides",
            "rename it",
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
        ("module 'numpy' has no attribute 'bool'", facts()),
        (SCAN_C, facts(python=(3, 9))),
        ("No module named 'imp'", facts(is_installed=lambda name: True)),
        ("the sky is green", facts()),
        ("undefined symbol: my_function", facts()),
    ],
)
def test_what_does_not_agree_is_not_recognised(text: str, true: Any) -> None:
    assert causes.of(text, true) is None


def test_a_wrong_syntax_names_the_package_of_its_file() -> None:
    error = SyntaxError("invalid syntax", ("/x/site-packages/six/a.py", 3, 1, "async = 1"))
    cause = causes.of_error(error, facts(framework="pytensor"))
    assert cause.what == "six is written for another Python than 3.9"


OPTIMISED = "def f():\n    'text'\nf.__doc__ + ''"
WARNING = "import warnings; warnings.warn('x')"


def run_trial(code: str, tmp_path: Path, **environ: str) -> Any:
    """Try a program in these variables, without those of this process."""
    clean = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    return trial.find_culprit(
        code, "theano", str(tmp_path), environ.pop("flags", ""), clean | environ
    )


def test_the_variable_without_which_a_program_runs_is_the_cause(tmp_path: Path) -> None:
    what, fix = run_trial(OPTIMISED, tmp_path, PYTHONOPTIMIZE="2")
    assert "PYTHONOPTIMIZE=2" in what
    assert fix == "unset PYTHONOPTIMIZE"
    what, fix = run_trial(WARNING, tmp_path, PYTHONWARNINGS="error", OMP_NUM_THREADS="1")
    assert fix == "unset PYTHONWARNINGS"


def test_of_a_list_the_folder_that_matters_is_named(tmp_path: Path) -> None:
    for name in ("good", "bad"):
        (tmp_path / name).mkdir()
    (tmp_path / "bad/json.py").write_text("raise ImportError('mine')")
    path = f"{tmp_path}/good:{tmp_path}/bad"
    what, fix = run_trial("import json", tmp_path, PYTHONPATH=path)
    assert what == f"{tmp_path}/bad in PYTHONPATH"
    assert fix == f"export PYTHONPATH={tmp_path}/good"


def test_a_preloaded_library_that_ends_the_program_is_named(tmp_path: Path) -> None:
    source, library = tmp_path / "bad.c", tmp_path / "bad.so"
    source.write_text("#include <stdlib.h>\n__attribute__((constructor)) void f(void) {_Exit(3);}")
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True)
    what, fix = run_trial("pass", tmp_path, LD_PRELOAD=str(library))
    assert what == f"{library} in LD_PRELOAD"
    assert fix == "unset LD_PRELOAD"


def test_a_flag_or_a_configuration_file(tmp_path: Path) -> None:
    code = "import os; assert 'bad' not in os.environ['THEANO_FLAGS'], 1"
    what, fix = run_trial(code, tmp_path, flags="floatX=float32,mode=bad")
    assert (what, fix) == ("mode=bad in THEANO_FLAGS", "remove mode=bad from THEANO_FLAGS")
    code = "import os; assert os.environ['THEANORC'] == os.devnull"
    what, _ = run_trial(code, tmp_path, THEANORC="/my/rc")
    assert what == "a setting in /my/rc"


def test_a_variable_that_brings_a_package_is_not_the_cause(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/provided.py").touch()
    code = "import provided; raise ValueError('another reason')"
    assert run_trial(code, tmp_path, PYTHONPATH=f"{tmp_path}/mine") is None


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
