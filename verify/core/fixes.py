"""How to fix a failed check: the exact line, and the file that it goes into."""

from __future__ import absolute_import, division, print_function

import importlib
import os
import re
import sys

from verify.core import process

# Link names, in order of preference.
LIBRARIES = ("openblas", "mkl_rt", "blis", "flexiblas")
CAUSE = re.compile(r"undefined symbol|cannot find -l|error:|No such file|not found")


def explain(error):
    """Return the type of an exception, and the line of its message that names the cause."""
    return "%s: %s" % (type(error).__name__, cause(str(error)))


def cause(text):
    """Return the line of a program's messages that names the cause, else the last one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if CAUSE.search(line)]
    line = (causes or lines[-1:] or [""])[0]
    # A compiled module's name is a long hash in a temporary folder.
    return re.sub(r"\S*/m?[0-9a-f]{32,}\.so: ", "", line)[:240]


def config_lines(section, option, value):
    """Return a setting as the lines of a configuration file."""
    return "[%s]\n%s = %s" % (section, option, value)


def config_file(context):
    """Return the configuration file that wins, as a person writes its name."""
    paths = os.environ.get(context.framework.rc_variable)
    return paths.split(os.pathsep)[-1] if paths else context.framework.rc_file


def ldflags_fix(context):
    """Return how to link the framework with a fast BLAS on this machine."""
    remove = "remove blas.ldflags from %s" % context.framework.flags_variable
    is_overridden = "blas" in context.user_flags and "ldflags" in context.user_flags
    if context.expectation and context.expectation["blas"]:
        if is_overridden:
            return remove
        return "put the environment's own setting back into %s:\n%s" % (
            config_file(context),
            config_lines("blas", "ldflags", context.expectation["blas"]["ldflags"]),
        )
    value = blas_link_flags()
    lines = config_lines("blas", "ldflags", value or "-lopenblas")
    fix = "put these lines into %s:\n%s" % (config_file(context), lines)
    if is_overridden:
        fix = "%s, then %s" % (remove, fix)
    if value:
        return fix
    return (
        "there is no BLAS to link with: install OpenBLAS (Debian, Ubuntu: libopenblas-dev; "
        "Fedora: openblas-devel; conda: openblas), then " + fix
    )


def numpy_fix():
    """Return how to get a NumPy that calls a fast BLAS."""
    folder = os.path.dirname(importlib.import_module("numpy").__file__)
    if folder.startswith("/usr/lib/python3/dist-packages"):
        return (
            "install OpenBLAS, which then serves every program in place of the reference BLAS:\n"
            "apt install libopenblas0"
        )
    if os.path.isdir(os.path.join(sys.prefix, "conda-meta")):
        return "take OpenBLAS for NumPy:\nconda install 'libblas=*=*openblas'"
    return (
        "install NumPy's wheel, which has OpenBLAS in it:\n"
        "%s -m pip install --force-reinstall --no-deps --only-binary numpy numpy==%s"
        % (sys.executable, importlib.import_module("numpy").__version__)
    )


def compiler_fix(context):
    """Return how to give the framework a C++ compiler."""
    if re.search(r"(^|,)\s*cxx\s*=", context.user_flags):
        return "remove cxx= from %s" % context.framework.flags_variable
    return "install a C++ compiler (Debian, Ubuntu: g++), or name one in %s:\n%s" % (
        config_file(context),
        config_lines("global", "cxx", "/usr/bin/g++"),
    )


def blas_link_flags():
    """Return linker flags for the best BLAS of the environment or the system, or None."""
    folder = os.path.join(sys.prefix, "lib")
    files = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    for name in LIBRARIES:
        flag = _link_flag(name, files)
        if flag:
            return "-L%s %s -Wl,-rpath,%s" % (folder, flag, folder)
    files = system_libraries()
    flags = [_link_flag(name, files) for name in LIBRARIES]
    return next((flag for flag in flags if flag), None)


def _link_flag(name, files):
    if "lib%s.so" % name in files:
        return "-l" + name
    # Without the development link, a library is linked by its file name.
    versioned = [file for file in files if file.startswith("lib%s.so." % name)]
    return "-l:" + versioned[0] if versioned else None


def system_libraries():
    """Return the file names of the libraries in the loader's cache."""
    for program in ("ldconfig", "/sbin/ldconfig", "/usr/sbin/ldconfig"):
        try:
            done = process.call([program, "-p"], 20)
        except OSError:
            continue
        return re.findall(r"^\s*(\S+) \([^)]*\) => ", done.output, re.MULTILINE)
    return []
