"""Which BLAS library serves whose calls in this very process."""

from __future__ import absolute_import, division, print_function

import collections
import ctypes
import os
import sys

from verify.blas import relocations

# What NumPy, SciPy and the frameworks call a matrix product, in all spellings of 32-bit, 64-bit
# and renamed interfaces.
PRODUCTS = tuple(
    prefix + name + suffix
    for prefix in ("", "scipy_")
    for name in ("dgemm_", "sgemm_", "cblas_dgemm", "cblas_sgemm")
    for suffix in ("", "64_")
)
RTLD_NOLOAD = 4
RTLD_LAZY = 1

Served = collections.namedtuple("Served", "module symbol library own")


def mapped_files():
    """Return {path: lowest address} of every file that this process has mapped, in order."""
    found = collections.OrderedDict()
    with open("/proc/self/maps") as maps:
        for line in maps:
            fields = line.rstrip("\n").split(None, 5)
            if len(fields) == 6 and fields[5].startswith("/"):
                found.setdefault(fields[5], int(fields[0].split("-")[0], 16))
    return found


def servers_of(paths, symbols=None):
    """Return a Served for every symbol, else BLAS product, that one of these loaded objects calls.

    `library` is the file that the call ends in; `own` says that the object serves itself: a
    fallback compiled into it.
    """
    bases = mapped_files()
    found = []
    for path in paths:
        base = bases.get(path)
        if base is None:
            continue
        try:
            imports = relocations.imports(path)
        except (relocations.UnreadableError, EnvironmentError):
            continue
        for symbol in symbols or PRODUCTS:
            for offset, defined in imports.get(symbol, ())[:1]:
                address = ctypes.c_uint64.from_address(base + offset).value
                library = relocations.file_of(address)
                own = library == os.path.realpath(path)
                if own and not defined:
                    # Bound lazily and not called yet: ask the loader what it would take.
                    library, own = _lookup(path, symbol), False
                if library:
                    found.append(Served(path, symbol, library, own))
    return found


def _lookup(path, symbol):
    for handle in (ctypes.CDLL(None), ctypes.CDLL(path, mode=RTLD_NOLOAD | RTLD_LAZY)):
        if hasattr(handle, symbol):
            return relocations.file_of(ctypes.cast(getattr(handle, symbol), ctypes.c_void_p).value)
    return None


def modules_below(folder):
    """Return the mapped shared objects whose path is below a folder."""
    folder = os.path.realpath(folder) + os.sep
    return [path for path in mapped_files() if path.startswith(folder)]


def modules_of(package):
    """Return the mapped shared objects of an imported package's own folder."""
    module = sys.modules.get(package)
    return modules_below(os.path.dirname(module.__file__)) if module else []
