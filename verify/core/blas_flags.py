"""Which BLAS there is to link with on this machine, and how to get one."""

from __future__ import absolute_import, division, print_function

import os
import re
import sys

from verify.core import packages, process
from verify.core.config_files import config_lines

# Link names, in order of preference.
LIBRARIES = ("openblas", "mkl_rt", "blis", "flexiblas")
# The last release whose library has this file name.
PIP_MKL, PIP_FILE = "mkl==2024.2.2", "libmkl_rt.so.2"


def link_fix():
    """Return how to link with a fast BLAS where the framework cannot be imported."""
    value = link_flags()
    if value:
        return "put these lines into ~/.theanorc:\n" + config_lines("blas", "ldflags", value)
    lines = config_lines("blas", "ldflags", "-lopenblas")
    return install_fix("put these lines into ~/.theanorc:\n" + lines)


def install_fix(setting):
    """Return how to install a BLAS and link with it, by the system's packages or without root.

    setting: how to link with OpenBLAS when it is installed.
    """
    command = packages.system_command("libopenblas-dev", "openblas-devel", "openblas")
    folder = os.path.join(sys.prefix, "lib")
    mkl = "-L%s -l:%s -Wl,-rpath,%s" % (folder, PIP_FILE, folder)
    return "there is no BLAS to link with: install OpenBLAS%s\nthen %s\n%s\n%s" % (
        command,
        setting,
        "or, without root, MKL:\n%s %s" % (packages.pip_command(), PIP_MKL),
        "with the line\nldflags = " + mkl,
    )


def link_flags():
    """Return linker flags for the best BLAS of the environment or the system, or None.

    What the variable of Intel's installer leads to comes before the system's.
    """
    folders = [os.path.join(sys.prefix, "lib")]
    if os.environ.get("MKLROOT"):
        library = os.path.join(os.environ["MKLROOT"], "lib")
        # Before 2024 the files were in the inner folder.
        folders += [os.path.join(library, "intel64"), library]
    for folder in folders:
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
