"""How to fix a failed check: the exact line, and the file that it goes into."""

from __future__ import absolute_import, division, print_function

import glob
import importlib
import os
import re
import sys
import sysconfig

from verify.core import process
from verify.core.config_files import (
    config_file,
    config_lines,
    flags_of,
    options_of,
    section_of,
    sections_of,
    source_of,
)
from verify.core.framework import is_installed

# Python 2 has it elsewhere.
quote = importlib.import_module("pipes" if str is bytes else "shlex").quote

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


def setting_fix(context, flag, value, back=False):
    """Return how to give a flag a value: what to remove, and the line for the file that wins.

    back: the value is the environment's own.
    """
    removed = _removed(context, flag)
    before = "%s, then " % removed if removed else ""
    section, option = section_of(flag)
    path = config_file(context)
    if (section, option.lower()) in options_of(os.path.expanduser(path)):
        return "%sin %s, put %s = %s" % (before, path, option, value)
    lines = config_lines(section, option, value)
    what = "the environment's own setting back" if back else "these lines"
    if section in sections_of(os.path.expanduser(path)):
        # The frameworks do not read a file that has a section twice.
        what, lines = "this line", lines.partition("\n")[2]
        return "%sput %s into %s, below [%s]:\n%s" % (before, what, path, section, lines)
    return "%sput %s into %s:\n%s" % (before, what, path, lines)


def _removed(context, flag):
    """Return how to remove a flag from the flags variable, or None if it is not there."""
    if flag not in flags_of(context.user_flags):
        return None
    framework = context.framework
    return "remove %s from %s" % (framework.spelled(flag), framework.flags_variable)


def ldflags_fix(context):
    """Return how to link the framework with a fast BLAS on this machine."""
    own = (context.expectation or {}).get("blas")
    if own:
        removed = _removed(context, "blas.ldflags")
        return removed or setting_fix(context, "blas.ldflags", own["ldflags"], back=True)
    value = blas_link_flags()
    fix = setting_fix(context, "blas.ldflags", value or "-lopenblas")
    if value:
        return fix
    return (
        "there is no BLAS to link with: install OpenBLAS (Debian, Ubuntu: libopenblas-dev; "
        "Fedora: openblas-devel; conda: openblas), then " + fix
    )


def numpy_fix():
    """Return how to get a NumPy that calls a fast BLAS."""
    numpy = importlib.import_module("numpy")
    if os.path.dirname(numpy.__file__).startswith("/usr/lib/python3/dist-packages"):
        return (
            "install OpenBLAS, which then serves every program in place of the reference BLAS:\n"
            "apt install libopenblas0"
        )
    # Also in a conda environment NumPy may be pip's.
    if glob.glob(os.path.join(sys.prefix, "conda-meta", "numpy-*.json")):
        return "take OpenBLAS for NumPy:\nconda install 'libblas=*=*openblas'"
    python, version = quote(sys.executable), numpy.__version__
    if is_installed("pip"):
        command = "%s -m pip install --force-reinstall" % python
    else:
        # As `uv venv` makes environments.
        command = "uv pip install --python %s --reinstall" % python
    if _is_managed():
        # Whoever installed this NumPy has said so, too.
        command += " --break-system-packages"
    return "install NumPy's wheel, which has OpenBLAS in it:\n%s%s" % (
        command,
        " --no-deps --only-binary numpy numpy==%s" % version,
    )


def _is_managed():
    """Return whether pip and uv refuse to write into this Python (PEP 668)."""
    if sys.prefix != getattr(sys, "base_prefix", sys.prefix):
        return False
    return os.path.exists(os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED"))


def compiler_fix(context):
    """Return how to give the framework a C++ compiler."""
    if "cxx" in flags_of(context.user_flags):
        return "remove cxx= from %s" % context.framework.flags_variable
    source, value = source_of(context, "cxx")
    if value == "":
        return "remove from %s:\n%s" % (source, config_lines("global", "cxx", value))
    return "install a C++ compiler (Debian, Ubuntu: g++), or " + setting_fix(
        context, "cxx", "/usr/bin/g++"
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
