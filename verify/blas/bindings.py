"""Which BLAS library the calls of each loaded module end in."""

from __future__ import absolute_import, division, print_function

import collections
import ctypes
import os
import sys

from verify.blas import relocations

# The names of a matrix product in BLAS interfaces with 32-bit and 64-bit integers, with and
# without SciPy's prefix.
PRODUCTS = tuple(
    prefix + name + suffix
    for prefix in ("", "scipy_")
    for name in ("dgemm_", "sgemm_", "cblas_dgemm", "cblas_sgemm")
    for suffix in ("", "64_")
)
RTLD_NOLOAD = 4
RTLD_LAZY = 1

# library: the file that calls of `symbol` in `module` end in.
Binding = collections.namedtuple("Binding", "module symbol library")


def mapped_files():
    """Return {path: lowest address} of every file that this process has mapped, in order."""
    addresses = collections.OrderedDict()
    with open("/proc/self/maps") as maps:
        for line in maps:
            fields = line.rstrip("\n").split(None, 5)
            if len(fields) == 6 and fields[5].startswith("/"):
                addresses.setdefault(fields[5], int(fields[0].split("-")[0], 16))
    return addresses


def bindings_of(paths, symbols=PRODUCTS):
    """Return the Bindings of loaded modules to other files than themselves."""
    bases = mapped_files()
    bindings = []
    for path in paths:
        base = bases.get(path)
        if base is None:
            continue
        try:
            imports = relocations.imports(path)
        except (relocations.UnreadableError, EnvironmentError):
            continue
        for symbol in symbols:
            for offset, defined in imports.get(symbol, ())[:1]:
                address = ctypes.c_uint64.from_address(base + offset).value
                library = relocations.file_of(address)
                if library == os.path.realpath(path):
                    # Either a fallback that is compiled into the module, or bound lazily and not
                    # called yet: then the loader knows.
                    library = None if defined else _lookup(path, symbol)
                if library:
                    bindings.append(Binding(path, symbol, library))
    return bindings


def defining(path, symbols=PRODUCTS):
    """Return whether a mapped file is a library that defines one of some symbols itself."""
    try:
        handle = loaded(path)
    except OSError:
        # A program, or no library at all.
        return False
    found = [getattr(handle, symbol) for symbol in symbols if hasattr(handle, symbol)]
    addresses = [ctypes.cast(each, ctypes.c_void_p).value for each in found]
    return any(relocations.file_of(each) == os.path.realpath(path) for each in addresses)


def loaded(path):
    """Return the handle of a library that this process has loaded. Raises OSError if it has not."""
    return ctypes.CDLL(path, mode=RTLD_NOLOAD | RTLD_LAZY)


def _lookup(path, symbol):
    for handle in (ctypes.CDLL(None), loaded(path)):
        if hasattr(handle, symbol):
            return relocations.file_of(ctypes.cast(getattr(handle, symbol), ctypes.c_void_p).value)
    return None


def modules_below(folder):
    """Return the mapped files below a folder."""
    folder = os.path.realpath(folder) + os.sep
    return [path for path in mapped_files() if path.startswith(folder)]


def modules_of(package):
    """Return the mapped files below the folder of a package, none if it is not imported."""
    module = sys.modules.get(package)
    return modules_below(os.path.dirname(module.__file__)) if module else []
