"""The environment variables that change what a Python program does: one table for all programs.

Each variable is dropped, named, or not in the table. The suite and the builder read it. The script
`invoke` runs it by its path, so it imports the standard library only.
"""

from __future__ import absolute_import, division, print_function

import fcntl
import fnmatch
import glob
import importlib
import os
import re
import sys

OTHER_PYTHON = ("PYTHONHOME", "PYTHONPLATLIBDIR", "PYTHONEXECUTABLE", "__PYVENV_LAUNCHER__")
# The compilers of an active conda environment set it.
OTHER_PYTHON += ("_PYTHON_SYSCONFIGDATA_NAME",)
# (names with blanks between, what each does, as a sentence's end). No program of an environment
# gets these.
DROPPED = (
    (" ".join(OTHER_PYTHON), "is meant for another Python"),
    # Of another environment that is active: uv installs into the folder that they name.
    ("VIRTUAL_ENV CONDA_DEFAULT_ENV", "names another environment"),
    (
        "PIP_USER PIP_TARGET PIP_PREFIX PIP_ROOT PIP_PYTHON",
        "would have pip install into another folder",
    ),
    ("PIP_DRY_RUN", "keeps pip from installing"),
    ("LD_SHOW_AUXV", "prints lines before the output of each program"),
    ("PIP_REQUIRE_VIRTUALENV", "keeps pip from working in an environment"),
)
# Those of pip's variables that the builder's pip gets: they say how files are fetched, others what
# is installed, such as PIP_CONSTRAINT and PIP_NO_DEPS.
FETCHING = (
    "INDEX_URL EXTRA_INDEX_URL NO_INDEX FIND_LINKS TRUSTED_HOST CERT CLIENT_CERT PROXY TIMEOUT "
    "DEFAULT_TIMEOUT RETRIES RESUME_RETRIES CACHE_DIR NO_CACHE_DIR CONFIG_FILE KEYRING_PROVIDER "
    "USE_FEATURE NO_INPUT DISABLE_PIP_VERSION_CHECK LOG"
)
ANY = "?*"
_SLOW_NUMBA = "can make numba's programs many times slower"
_PRINTS = "prints lines between those of the program"
_SLOW_MEMORY = "slows every allocation of memory"
# Beside the number of threads, and in place of it.
FEWER = "limits the threads of BLAS or OpenMP"
_KERNELS = "OPENBLAS_CORETYPE BLIS_ARCH_TYPE MKL_DEBUG_CPU_TYPE MKL_ENABLE_INSTRUCTIONS MKL_CBWR"
# (names, the values that the row is for, in lower case, what each does). Names and values are as
# fnmatch has them. What sets the number of threads, or their places, is not here: the check
# `threads` compares it with what runs.
NAMED = (
    ("PYTHONPATH", ANY, "puts its folders before the environment's packages"),
    ("PYTHONOPTIMIZE", "[!0]* 0?*", "leaves out the checks and texts that packages rely on"),
    ("PYTHONWARNINGS", "*error*", "makes errors of warnings"),
    ("PYTHONMALLOC", "*debug* malloc", _SLOW_MEMORY),
    ("PYTHONDEVMODE", ANY, "turns on slow checks of Python's memory"),
    ("PYTHONTRACEMALLOC", ANY, _SLOW_MEMORY),
    ("MALLOC_CHECK_ MALLOC_PERTURB_", "[1-9]*", _SLOW_MEMORY),
    ("NPY_DISABLE_CPU_FEATURES", ANY, "keeps NumPy from a part of the processor's instructions"),
    ("NPY_PROMOTION_STATE", "weak*", "has NumPy 1 choose other types of results"),
    ("PYTHONINSPECT", ANY, "keeps Python at a prompt when a program has ended"),
    ("PYTHONVERBOSE PYTHONPROFILEIMPORTTIME LD_DEBUG NUMBA_DUMP_* NUMBA_TRACE", ANY, _PRINTS),
    ("PYTHONMALLOCSTATS", ANY, _PRINTS),
    ("NUMBA_DEBUG NUMBA_DEBUG_* NUMBA_PARALLEL_DIAGNOSTICS", "[1-9]*", _PRINTS),
    ("MKL_VERBOSE KMP_SETTINGS KMP_VERSION OPENBLAS_VERBOSE", "[1-9]* t*", _PRINTS),
    ("BLIS_ARCH_DEBUG GOMP_DEBUG", "[1-9]* t*", _PRINTS),
    ("OMP_DISPLAY_ENV OMP_DISPLAY_AFFINITY", "t* v* 1", _PRINTS),
    ("GLIBC_TUNABLES", "*hwcap*", "selects the C library's functions for another processor"),
    ("GLIBC_TUNABLES", "*static_tls*", "limits the memory for variables of threads"),
    ("GLIBC_TUNABLES", "*malloc.check=[1-9]* *malloc.perturb=[1-9]*", _SLOW_MEMORY),
    ("PYTHONSAFEPATH", ANY, "keeps the folder of a script off Python's path"),
    ("PYTHON_GIL", ANY, "changes how Python runs threads"),
    ("LD_PRELOAD", ANY, "loads its libraries before the environment's"),
    ("LD_LIBRARY_PATH", ANY, "has the loader search its folders first"),
    ("LD_AUDIT", ANY, "has a library decide what the loader takes"),
    ("LD_BIND_NOW", ANY, "has a library fail that lacks a function which nobody calls"),
    ("LD_BIND_NOT", ANY, "has the loader look up a function at each of its calls"),
    ("LD_RUN_PATH", ANY, "has compiled modules search its folders"),
    ("GCONV_PATH LOCPATH", ANY, "leads the C library to another one's files"),
    ("GCC_EXEC_PREFIX COMPILER_PATH", ANY, "leads the compiler to another one's files"),
    ("CPATH", ANY, "has the compiler search its folders first"),
    ("C_INCLUDE_PATH CPLUS_INCLUDE_PATH", ANY, "has the compiler search its folders"),
    ("LIBRARY_PATH", ANY, "has the linker search its folders"),
    ("NUMBA_NUM_THREADS", "0 -*", "leaves numba no thread, so that it refuses to start"),
    ("NUMBA_DISABLE_JIT", "[!0]* 0?*", _SLOW_NUMBA),
    ("NUMBA_OPT", "0 1", _SLOW_NUMBA),
    ("NUMBA_LOOP_VECTORIZE", "0", _SLOW_NUMBA),
    ("NUMBA_BOUNDSCHECK", "1", _SLOW_NUMBA),
    ("NUMBA_ENABLE_AVX", "0", _SLOW_NUMBA),
    ("NUMBA_DEBUGINFO", "[1-9]*", _SLOW_NUMBA),
    ("NUMBA_CPU_*", ANY, "has numba compile for another processor"),
    (_KERNELS, ANY, "selects the kernels of the BLAS library"),
    ("MKL_THREADING_LAYER", "seq*", "has MKL run on one thread"),
    ("MKL_THREADING_LAYER", "[!gs]*", "selects the library of MKL's threads"),
    ("MKL_INTERFACE_LAYER", "*ilp64*", "has MKL read sizes of 64 bits: programs crash"),
    ("KMP_LIBRARY", "serial", "has Intel's OpenMP run on one thread"),
    ("KMP_DUPLICATE_LIB_OK", "1 t* y*", "hides that OpenMP is loaded twice"),
    ("OMP_THREAD_LIMIT MKL_DOMAIN_NUM_THREADS BLIS_[IJP][CR]_NT", ANY, FEWER),
    ("OMP_DYNAMIC", "t* 1", FEWER),
)

# Variables with folders, and the environment's folders whose files theirs come before.
HIDING = {
    "PYTHONPATH": ("lib/python*/site-packages", "lib/python*/dist-packages"),
    "LD_LIBRARY_PATH": ("lib",),
}
UNIMPORTANT = {"__pycache__", "bin", "tests", "test", "docs", "setup", "conftest", "README.txt"}
# Names in a sentence, at most.
SHOWN = 3
_own = set()


def reason_of(name, value):
    """Return what a variable with this value does to programs, None for one in no table."""
    for names, reason in DROPPED:
        if name in names.split() and value:
            return reason
    for names, values, reason in NAMED:
        if _fits(names, name) and _fits(values, value.lower()):
            return reason
    return None


def open_streams():
    """Open what is closed of standard input, output and error, to nothing.

    Else the next file that is opened has its number, and gets what is printed.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            # It gets the lowest number that is free, which is this one; so do started programs.
            os.open(os.devnull, os.O_RDWR)
            fcntl.fcntl(number, fcntl.F_SETFD, 0)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r"))


def _fits(patterns, text):
    return any(fnmatch.fnmatchcase(text, each) for each in patterns.split())


def dropped():
    """Return the names of the variables that no program of an environment gets, in order."""
    return [name for names, _ in DROPPED for name in names.split()]


def program(environ):
    """Return the variables of a program of an environment: all but the dropped ones."""
    return {name: value for name, value in environ.items() if name not in dropped()}


def pip(environ):
    """Return the variables of a pip that installs what, and where, the builder says.

    Its configuration file may say otherwise, and a variable wins over it. For folders no variable
    does: pip ignores an empty one.
    """
    kept = {
        name: value
        for name, value in program(environ).items()
        if not name.startswith("PIP_") or name[len("PIP_") :] in FETCHING.split()
    }
    off = dict.fromkeys(("PIP_USER", "PIP_REQUIRE_VIRTUALENV", "PIP_DRY_RUN"), "0")
    return dict(kept, PIP_CONSTRAINT=os.devnull, **off)


def remarks(environ, prefix):
    """Return a sentence, `NAME=VALUE reason`, for each variable that is named, sorted.

    prefix: the environment's folder. A variable with folders is named where one of them hides a
    file or a package of the environment.
    """
    found = []
    for name in suspects(program(environ)):
        sentence = "%s=%s %s" % (name, environ[name], reason_of(name, environ[name]))
        if name in HIDING:
            hidden = hides(environ, name, prefix)
            sentence += ", and hides its %s" % ", ".join(hidden[:SHOWN])
            found += [sentence] if hidden else []
        else:
            found.append(sentence)
    return found


def hides(environ, name, prefix):
    """Return which files or packages of an environment the folders of a variable have too."""
    patterns = HIDING[name]
    own = set()
    for folder in [each for pattern in patterns for each in matching(prefix, pattern)]:
        own.update(_names(folder))
    inside = os.path.realpath(prefix) + os.sep
    others = set()
    for folder in folders(environ, name):
        if not (os.path.realpath(folder) + os.sep).startswith(inside):
            others.update(_names(folder))
    return sorted((own & others) - UNIMPORTANT)


def _names(folder):
    """Return the names of the packages, modules and libraries in a folder."""
    try:
        names = os.listdir(folder)
    except EnvironmentError:
        return set()
    stems = {name[: -len(".py")] if name.endswith(".py") else name for name in names}
    return {name for name in stems if "-" not in name and not name.endswith(".pth")}


def note_own():
    """Note the variables that this process began without: this Python's start has set them."""
    try:
        with open("/proc/self/environ", "rb") as file:
            parts = file.read().decode("latin-1").split("\0")
    except EnvironmentError:
        return
    _own.update(set(os.environ) - {part.partition("=")[0] for part in parts})


def suspects(environ):
    """Return the names of the variables that may keep a program from running, sorted.

    Not those that the environment itself sets: nobody can unset them.
    """
    return sorted(name for name in environ if name not in _own and reason_of(name, environ[name]))


def first_try():
    """Return, as the middle of a fix, which variables to unset; "" if none may be the reason."""
    names = " ".join(suspects(os.environ))
    return "; first try: unset " + names if names else ""


def folders(environ, name):
    """Return the folders, or the files, of a variable that is a list of them."""
    # A blank is a part of a path everywhere else.
    separators = "[ :]" if name == "LD_PRELOAD" else ":"
    return [part for part in re.split(separators, environ.get(name, "")) if part]


def matching(folder, pattern):
    """Return the paths below a folder that fit a pattern such as `*/*.so`, sorted.

    In the folder's own name `[` stands for itself. Python 2 has no glob.escape.
    """
    escaped = re.sub(r"([*?[])", r"[\1]", folder)
    return sorted(glob.glob(os.path.join(escaped, pattern)))


# Python 2 has it elsewhere.
quote = importlib.import_module("pipes" if str is bytes else "shlex").quote


def loader_fix(paths):
    """Return how to keep the loader from libraries; None if no variable of its leads to one.

    paths: of the libraries, without symbolic links.
    """
    for variable in ("LD_PRELOAD", "LD_LIBRARY_PATH"):
        for path in paths:
            fix = without(variable, path, os.path.dirname(path))
            if fix:
                return "%s leads to %s:\n%s" % (variable, path, fix)
    return None


def without(variable, *unwanted, **options):
    """Return the command that takes paths out of a variable's list; None if it has none of them.

    environ: the variables; by default those of this process.
    """
    environ = options.get("environ", os.environ)
    parts = folders(environ, variable)
    kept = [part for part in parts if os.path.realpath(part) not in unwanted]
    if kept == parts:
        return None
    return "export %s=%s" % (variable, quote(":".join(kept))) if kept else "unset " + variable
