"""Identify a loaded BLAS library by its symbols, never by the name of its file."""

from __future__ import absolute_import, division, print_function

import collections
import ctypes
import fnmatch
import os
import re

from verify.blas import bindings

# name: `openblas`, `mkl`, `blis`, `atlas`, `armpl`, or `reference or unknown`; kernel: the name of
# the kernels that it has selected; threads: how many it would use now; most: how many an OpenBLAS
# was built for; adapts: whether libblas_threads gives each call a number of its own. All but name
# and path may be None.
Library = collections.namedtuple("Library", "name version kernel threads path most adapts")
Library.__new__.__defaults__ = (None, None)

UNKNOWN = "reference or unknown"
OPENBLAS_NAMES = tuple(
    prefix + "openblas_%s" + suffix for prefix in ("", "scipy_") for suffix in ("", "64_")
)

# Functions by which a library is known, and which nothing in front of it defines again.
IDENTITIES = tuple(pattern % "get_config" for pattern in OPENBLAS_NAMES) + (
    "MKL_Get_Version_String",
    "bli_info_get_version_str",
)


def identify(path):
    """Return the Library that is loaded from a path."""
    handle = bindings.loaded(path)
    for probe in (_openblas, _mkl, _blis):
        found = probe(handle, path)
        if found:
            return found._replace(adapts=_call(handle, "blas_threads_adapt", ctypes.c_int))
    for name, symbol in (("atlas", "ATL_buildinfo"), ("armpl", "armplversion")):
        if hasattr(handle, symbol):
            return Library(name, None, None, None, path)
    # Debian's libblas.so.3 of BLIS hides every symbol but those of BLAS itself.
    with open(path, "rb") as file:
        data = file.read()
    name = "blis" if b"libblis" in data else "openblas" if b"OpenBLAS" in data else UNKNOWN
    return Library(name, None, None, None, path)


def libraries_of(paths):
    """Return the Libraries of paths, in their order, with the parts of one MKL as one."""
    return merged([identify(path) for path in sorted(set(paths))])


def is_expected(path, blas):
    """Return whether a file is one of those that the expectation's `blas` names."""
    return any(fnmatch.fnmatch(os.path.basename(path), name) for name in blas["libraries"])


def behind(path):
    """Return the file that has the code of a loaded library: of a front, the one it leads to."""
    handle = bindings.loaded(path)
    files = [bindings.file_with(handle, name) for name in IDENTITIES]
    return next((file for file in files if file), path)


def merged(libraries):
    """Return the libraries with the parts of one MKL replaced by its libmkl_rt.

    libmkl_rt loads the rest of MKL at its first call, and symbols that are bound later may lead
    there directly. Only libmkl_rt can be loaded by itself and has the function for threads.
    A library in front of MKL is none of its parts.
    """
    names = {item: os.path.basename(item.path) for item in libraries if item.name == "mkl"}
    parts = [item for item in libraries if names.get(item, "").startswith("libmkl_")]
    heads = [item for item in parts if names[item].startswith("libmkl_rt")]
    if not parts or len({item.version for item in parts}) > 1:
        return libraries
    if not heads:
        heads = [item for item in map(_head, parts) if item] or parts[:1]
    return [item for item in libraries if item not in parts] + heads[:1]


def _head(part):
    folder = os.path.dirname(part.path)
    names = [name for name in sorted(os.listdir(folder)) if name.startswith("libmkl_rt.so")]
    try:
        return identify(os.path.join(folder, names[-1])) if names else None
    except OSError:
        # It is beside the parts, which were linked without it.
        return None


def is_part(library):
    """Return whether a library is a part of MKL, which cannot be loaded without the others."""
    name = os.path.basename(library.path)
    return name.startswith("libmkl_") and not name.startswith("libmkl_rt")


def describe(library):
    """Return one line of text about a library."""
    words = ["%s kernels" % library.kernel] if library.kernel else []
    if library.threads:
        words.append("%d thread%s" % (library.threads, "" if library.threads == 1 else "s"))
    words.append(os.path.basename(library.path))
    name = " ".join(filter(None, (library.name, library.version)))
    return "%s (%s)" % (name, ", ".join(words))


def set_threads(path, count):
    """Set the number of threads of a loaded library; return False if it has no such function."""
    handle = bindings.loaded(path)
    setters = [(pattern % "set_num_threads", ctypes.c_int) for pattern in OPENBLAS_NAMES]
    setters.append(("MKL_Set_Num_Threads", ctypes.c_int))
    setters.append(("bli_thread_set_num_threads", ctypes.c_int64))
    for name, kind in setters:
        if hasattr(handle, name):
            _call(handle, name, None, kind(count))
            return True
    return False


def _call(handle, name, result, *arguments):
    if not hasattr(handle, name):
        return None
    function = getattr(handle, name)
    function.restype = result
    value = function(*arguments)
    return value.decode("ascii", "replace") if isinstance(value, bytes) else value


def _openblas(handle, path):
    for pattern in OPENBLAS_NAMES:
        config = _call(handle, pattern % "get_config", ctypes.c_char_p)
        if config:
            version = re.match(r"OpenBLAS (\S+)", config)
            most = re.search(r"\bMAX_THREADS=(\d+)", config)
            return Library(
                "openblas",
                version and version.group(1),
                _call(handle, pattern % "get_corename", ctypes.c_char_p),
                _call(handle, pattern % "get_num_threads", ctypes.c_int),
                path,
                int(most.group(1)) if most else None,
            )
    return None


def _mkl(handle, path):
    if not hasattr(handle, "MKL_Get_Max_Threads"):
        return None
    buffer = ctypes.create_string_buffer(200)
    _call(handle, "MKL_Get_Version_String", None, buffer, ctypes.c_int(199))
    version = re.search(r"Version\s+([^\s-]+)", buffer.value.decode("ascii", "replace"))
    threads = _call(handle, "MKL_Get_Max_Threads", ctypes.c_int)
    return Library("mkl", version and version.group(1), None, threads, path)


def _blis(handle, path):
    version = _call(handle, "bli_info_get_version_str", ctypes.c_char_p)
    if version is None:
        return None
    number, kernel = _call(handle, "bli_arch_query_id", ctypes.c_int), None
    if number is not None:
        kernel = _call(handle, "bli_arch_string", ctypes.c_char_p, ctypes.c_int(number))
    # Exported by recipes/libblis's addition, which replaces the kernels of another processor.
    if _call(handle, "blis_zen5_installed", ctypes.c_int):
        kernel = "zen5"
    # BLIS returns -1 where no number was requested, and runs on one thread.
    threads = max(1, _call(handle, "bli_thread_get_num_threads", ctypes.c_int64) or 1)
    return Library("blis", version, kernel, threads, path)
