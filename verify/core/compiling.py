"""Where frameworks compile, and what is kept of that. Call these before the import of one."""

from __future__ import absolute_import, division, print_function

import hashlib
import os
import shutil
import sys

from verify.core.config_files import value_set
from verify.core.framework import MODULES, NUMBA

if sys.version_info[0] > 2:
    from importlib.util import cache_from_source, find_spec

MODULES_VARIABLE = "THEANO_STACKS_MODULES"
# Folder of an environment's compile folder: what its verification has compiled.
VERIFIED = "verified"
# The last file in the folder of a compiled module. An extension has a .so of the folder's name.
KEY = "key.pkl"
# What the copy of such a folder has besides: the digest of its files.
DIGEST = "digest"


def compile_flags(name, folder):
    """Return the flags by which a framework compiles into `folder`, whatever a person has set."""
    flags = "base_compiledir=" + folder
    own = ",compiledir=" + os.path.join(folder, "compiledir")
    return flags if value_set(name, "compiledir") is None else flags + own


def use_compile_folder(folder, names=MODULES):
    """Make every framework compile into `folder` only. Call it before the import."""
    for name in names:
        add_flag(name, compile_flags(name, folder))


def keep_numba(folder, expectation):
    """Keep what PyTensor's numba compiles in the environment's own compile folder.

    There it is a program's, too: numba takes a function if its own version, the processor and the
    function are the same. folder: the compile folder in use, which does not exist yet. Without
    permission to write into the environment nothing is kept.
    """
    own = expectation["flags"].get("base_compiledir")
    if expectation["module"] != "pytensor" or not own:
        return
    kept = os.path.join(own, NUMBA)
    if not os.path.isdir(kept) and os.access(own, os.W_OK):
        os.mkdir(kept)
    if os.access(kept, os.W_OK):
        os.mkdir(folder)
        os.symlink(kept, os.path.join(folder, NUMBA))


def verified_modules(expectation):
    """Return the folder in which an environment keeps what its verification compiles, or None."""
    own = expectation["flags"].get("base_compiledir")
    return os.path.join(own, VERIFIED) if own and os.path.isdir(own) else None


def take(source, target, modules=True, extensions=False):
    """Copy what is compiled in a folder into another one that lacks it.

    modules: of functions; a framework that misses one looks through its folder again. extensions:
    what the framework compiles of its own. What cannot be copied is compiled again, and so is what
    has changed since it was copied: the process would die of a library that is cut off.
    """
    part = os.path.join(target, ".%d" % os.getpid())
    try:
        for path, folders, names in os.walk(source):
            folders[:] = [name for name in folders if not name.startswith((".", "theano_stacks"))]
            other = os.path.join(target, os.path.relpath(path, source))
            is_extension = os.path.basename(path) + ".so" in names
            is_wanted = modules if KEY in names else extensions and is_extension
            if not is_wanted or os.path.exists(other):
                continue
            if DIGEST in names and _read(os.path.join(path, DIGEST)) != _digest(path):
                shutil.rmtree(path)
                continue
            shutil.copytree(path, part, ignore=shutil.ignore_patterns("mod.cpp", "__pycache__"))
            with open(os.path.join(part, DIGEST), "wb") as file:
                file.write(_digest(part))
            for name in os.listdir(part):
                # Frameworks remove what was not used for a month.
                os.utime(os.path.join(part, name), None)
            if not os.path.isdir(os.path.dirname(other)):
                os.makedirs(os.path.dirname(other))
            os.rename(part, other)
    except EnvironmentError:
        return
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _digest(folder):
    digest = hashlib.sha256()
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name != DIGEST and os.path.isfile(path):
            digest.update(name.encode("utf-8") + _read(path))
    return digest.hexdigest().encode("ascii")


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def keep_bytecode(folder):
    """Make this process and its children keep bytecode in `folder` if the environment has none.

    Then only one of them compiles the framework's Python files. Call it before the import; Python 3
    before 3.8 has no such folder.
    """
    if sys.version_info < (3, 8):
        return
    for name in MODULES:
        spec = find_spec(name)
        if spec and spec.origin and os.path.exists(cache_from_source(spec.origin)):
            return
    sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = folder
    sys.dont_write_bytecode = False


def shared_modules():
    """Return the folder of compiled modules that environments of theano-stacks share, or None."""
    folder = os.environ.get(MODULES_VARIABLE, "0")
    return folder if folder not in ("", "0") else None


def share_modules(folder=None):
    """Make an environment of theano-stacks take compiled modules from a shared folder.

    folder: None to compile every module. It holds for the processes that this one starts, too.
    """
    os.environ[MODULES_VARIABLE] = folder or "0"
    sharing = sys.modules.get("theano_stacks_sharing")
    if sharing is not None:
        # It opens the folder at the next module.
        sharing.SHARED.ready = False


def add_flag(name, flag):
    """Append a flag to the flags variable of a framework."""
    variable = name.upper() + "_FLAGS"
    flags = os.environ.get(variable, "")
    os.environ[variable] = flags + "," + flag if flags else flag
