"""What this Python and this system have installed, BLAS libraries too; what installs more."""

from __future__ import absolute_import, division, print_function

import base64
import hashlib
import importlib
import json
import os
import pkgutil
import re
import sys
import sysconfig

from verify.core import process
from verify.core.configuration import config_file, config_lines
from verify.core.machine import read_text
from verify.core.portable import native
from verify.core.surroundings import matching, quote

PY2 = sys.version_info[0] == 2
if not PY2:
    from importlib.util import find_spec
# Link names, in order of preference.
LIBRARIES = ("openblas", "mkl_rt", "blis", "flexiblas")
# The last release whose library has this file name.
PIP_MKL, PIP_FILE = "mkl==2024.2.2", "libmkl_rt.so.2"
# The frameworks split their flags at blanks: they cannot link from a folder with one.
BLANK = re.compile(r"\s")
# Those whose RECORD says what is there: conda changes the paths in libraries afterwards.
INSTALLERS = ("pip", "uv")
# (module, how its version begins, the variant that has a compiler and a BLAS with it).
VARIANTS = (
    ("theano", "0.", "theano-0.8.2/openblas"),
    ("theano", "1.1.", "theano-pymc-1.1.2/openblas"),
    ("aesara", "2.", "aesara-2.8.7/openblas"),
    ("pytensor", "2.", "pytensor-2.38.3/openblas"),
    ("pytensor", "3.", "pytensor-3.3.7/openblas"),
)


def is_installed(name):
    """Return whether a module of that name is installed, without running it.

    A folder without code, as an uninstalled package may leave one, is none.
    """
    if PY2:
        return pkgutil.find_loader(name) is not None
    spec = find_spec(name)
    return spec is not None and spec.origin not in (None, "namespace")


def user_folder():
    """Return the user's folder of packages; empty for a Python that has none."""
    # A virtualenv's site may lack it. On Python 2.7 an import would undo -S.
    return getattr(sys.modules.get("site"), "getusersitepackages", str)()


def import_installed(*names):
    """Import those of some modules that can be imported."""
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            continue


def normal(name):
    """Return a distribution's name as PEP 503 normalises it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def program(name, works=lambda path: True):
    """Return the path of the first program on PATH with a name that works, or None."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    paths = [os.path.join(folder, name) for folder in folders]
    return next((path for path in paths if os.access(path, os.X_OK) and works(path)), None)


def pip_command(again=False):
    """Return the beginning of the command that installs packages for this Python.

    again: also those that are installed.
    """
    python = quote(sys.executable)
    if is_installed("pip"):
        command = "%s -m pip install%s" % (python, " --force-reinstall" * again)
    else:
        # As `uv venv` makes environments.
        command = "uv pip install --python %s%s" % (python, " --reinstall" * again)
    if _is_managed():
        # Whoever installed the packages of this Python has said so, too.
        command += " --break-system-packages"
    return command


def _is_managed():
    """Return whether pip and uv refuse to write into this Python (PEP 668)."""
    if sys.prefix != getattr(sys, "base_prefix", sys.prefix):
        return False
    return os.path.exists(os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED"))


def system_command(debian, fedora, conda):
    """Return, after a colon, the command that installs a package; else its names."""
    if os.path.isdir(os.path.join(sys.prefix, "conda-meta")) and program("conda"):
        return ":\nconda install " + conda
    if program("apt"):
        return ":\napt install " + debian
    if program("dnf"):
        return ":\ndnf install " + fedora
    return " (Debian, Ubuntu: %s; Fedora: %s; conda: %s)" % (debian, fedora, conda)


def has_headers():
    """Return whether this Python's header files are installed."""
    return os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h"))


def compiler_command(framework, version):
    """Return, after a colon, how to install a C++ compiler and Python's header files.

    framework: the name of its module.
    """
    python = "python%d.%d" % sys.version_info[:2]
    names = ["g++", "gcc-c++", "gxx"]
    if not has_headers():
        names = ["g++ %s-dev" % python, "gcc-c++ %s-devel" % python, "gxx"]
    return system_command(*names) + or_environment(framework, version)


def or_environment(framework, version):
    """Return, on lines of their own, the way that needs no root: by the builder, if it is there."""
    program = builder()
    if not program:
        return ""
    variant = "openblas"
    for module, start, name in VARIANTS:
        if module == framework and str(version).startswith(start):
            variant = name
    words = "\nor, without root, take an environment that has all of it:\n%s build --variant %s"
    return words % (program, variant)


def builder():
    """Return the command by which the builder is started, None if the suite came without it."""
    home = os.path.dirname(process.SUITE)
    if os.path.exists(os.path.join(home, "invoke")):
        return "./invoke"
    return "theano-stacks" if os.path.isdir(os.path.join(home, "stacks")) else None


def installed(name):
    """Return the version in a package's dist-info or conda record, or None."""
    return versions_of(name)[0]


def versions_of(name):
    """Return the versions in a package's metadata; one of them, None, if there are none.

    More than one if an installer has left the metadata of the one that it replaced.
    """
    for folder in sys.path:
        versions = []
        # .egg-info: as pip before 23.1 installs what has no wheel.
        for path in matching(folder, "*.dist-info") + matching(folder, "*.egg-info"):
            stem = re.sub(r"(-py[\d.]+)?\.(dist|egg)-info$", "", os.path.basename(path))
            other, dash, version = stem.rpartition("-")
            if dash and normal(other) == normal(name):
                versions.append(version)
        if versions:
            return sorted(versions)
    return [_conda_version(name)]


def _conda_version(name):
    for path in matching(sys.prefix, os.path.join("conda-meta", str(name) + "-*.json")):
        try:
            record = json.loads(read_text(path))
            if record["name"] == name:
                return record["version"]
        # An interrupted installation leaves half a record.
        except (ValueError, KeyError, TypeError):
            continue
    return None


def lost(pattern):
    """Return (package, version, path, problem) of the first file that is not as it was installed.

    pattern: the regular expression of its line in a RECORD, which has its path below a folder of
    packages, a digest and the size. None if there is none.
    """
    for folder in sys.path:
        for record in matching(folder, os.path.join("*.dist-info", "RECORD")):
            lines = [line for line in read_text(record).splitlines() if re.search(pattern, line)]
            installer = read_text(os.path.join(os.path.dirname(record), "INSTALLER")).strip()
            for line in (line for line in lines if line.count(",") > 1):
                name, digest, size = native(line).rsplit(",", 2)
                path, problem = os.path.join(folder, name.strip('"')), None
                if not os.path.exists(path):
                    problem = "is missing"
                elif installer not in INSTALLERS:
                    continue
                elif size.isdigit() and os.path.getsize(path) != int(size):
                    problem = "has %d bytes in place of %s" % (os.path.getsize(path), size)
                elif digest.startswith("sha256=") and digest != "sha256=" + _digest(path):
                    problem = "has other bytes than were installed"
                if problem:
                    stem = os.path.basename(os.path.dirname(record))[: -len(".dist-info")]
                    return stem.partition("-")[::2] + (name.strip('"'), problem)
    return None


def _digest(path):
    """Return the SHA-256 of a file as a RECORD has it."""
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).digest()
    return base64.urlsafe_b64encode(digest).decode("ascii").rstrip("=")


def link_fix(framework):
    """Return how to link with a fast BLAS where a framework cannot be imported."""
    flags = link_flags()
    lines = config_lines("blas", "ldflags", (flags + ["-lopenblas"])[0])
    setting = "put these lines into %s:\n%s" % (config_file(framework), lines)
    return setting if flags else install_fix(setting)


def install_fix(setting):
    """Return how to install a BLAS and link with it, by the system's packages or without root.

    setting: how to link with OpenBLAS when it is installed; None where that is the case.
    """
    command = system_command("libopenblas-dev", "openblas-devel", "openblas")
    command += "\nthen " + setting if setting else ""
    folder = os.path.join(sys.prefix, "lib")
    without_root = "MKL:\n%s %s\nwith the line\nldflags = -L%s -l:%s -Wl,-rpath,%s" % (
        pip_command(),
        PIP_MKL,
        folder,
        PIP_FILE,
        folder,
    )
    if BLANK.search(folder):
        without_root = "MKL by pip in an environment whose path has no blanks"
    words = (command, without_root)
    return "there is no BLAS to link with: install OpenBLAS%s\nor, without root, %s" % words


def link_flags():
    """Return linker flags for each BLAS of the environment and of the system, the best one first.

    What the variable of Intel's installer leads to comes before the system's.
    """
    folders = [os.path.join(sys.prefix, "lib")]
    if os.environ.get("MKLROOT"):
        library = os.path.join(os.environ["MKLROOT"], "lib")
        # Before 2024 the files were in the inner folder.
        folders += [os.path.join(library, "intel64"), library]
    flags = [flag for folder in folders for flag in flags_in(folder)]
    return flags + _link_names(LIBRARIES, system_libraries())


def flags_in(folder, names=LIBRARIES):
    """Return linker flags for each of these libraries that a folder has."""
    is_usable = os.path.isdir(folder) and not BLANK.search(folder)
    found = _link_names(names, sorted(os.listdir(folder)) if is_usable else [])
    return ["-L%s %s -Wl,-rpath,%s" % (folder, name, folder) for name in found]


def _link_names(names, files):
    """Return how to link each of these libraries that is among some files."""
    found = []
    for name in names:
        # Without the development link, a library is linked by its file name.
        versioned = [":" + file for file in files if file.startswith("lib%s.so." % name)]
        own = [name] * ("lib%s.so" % name in files)
        found += ["-l" + each for each in (own + versioned)[:1]]
    return found


def system_libraries():
    """Return the file names of the libraries in the loader's cache."""
    for program in ("ldconfig", "/sbin/ldconfig", "/usr/sbin/ldconfig"):
        try:
            done = process.call([program, "-p"], 20)
        except OSError:
            continue
        return re.findall(r"^\s*(\S+) \([^)]*\) => ", done.output, re.MULTILINE)
    return []
