"""Which BLAS library the calls of each loaded module end in.

Each call goes through a slot of its module, which the loader fills: the module's relocations name
it. Layout and constants: System V ABI, AMD64 supplement; elf(5).
"""

from __future__ import absolute_import, division, print_function

import collections
import ctypes
import os
import struct
import sys

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
DYNAMIC, LOAD = 2, 1
STRTAB, SYMTAB, RELA, RELASZ, PLTRELSZ, JMPREL = 5, 6, 7, 8, 2, 23


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
    bases, bindings = mapped_files(), []
    for path in paths:
        try:
            slots = imports(path) if path in bases else {}
        except (ValueError, EnvironmentError):
            continue
        for symbol in symbols:
            for offset, defined in slots.get(symbol, ())[:1]:
                library = file_of(ctypes.c_uint64.from_address(bases[path] + offset).value)
                if library == os.path.realpath(path):
                    # Either a fallback that is compiled into the module, or bound lazily and not
                    # called yet: then the loader knows.
                    handles = () if defined else (ctypes.CDLL(None), loaded(path))
                    files = [file_with(handle, symbol) for handle in handles]
                    library = next((file for file in files if file), None)
                if library:
                    bindings.append(Binding(path, symbol, library))
    return bindings


def bindings_of_package(name):
    """Return the Bindings of a package's modules, none if it is not imported."""
    module = sys.modules.get(name)
    return bindings_of(modules_below(os.path.dirname(module.__file__))) if module else []


def defining(path):
    """Return whether a mapped file is a library that defines one of PRODUCTS itself."""
    try:
        handle = loaded(path)
    except OSError:
        # A program, or no library at all.
        return False
    return any(file_with(handle, symbol) == os.path.realpath(path) for symbol in PRODUCTS)


def loaded(path):
    """Return the handle of a library that this process has loaded. Raises OSError if it has not."""
    return ctypes.CDLL(path, mode=RTLD_NOLOAD | RTLD_LAZY)


def modules_below(folder):
    """Return the mapped files below a folder."""
    folder = os.path.realpath(folder) + os.sep
    return [path for path in mapped_files() if path.startswith(folder)]


class DlInfo(ctypes.Structure):
    """The result of dladdr(3)."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def file_with(handle, symbol):
    """Return the real path of the file that has a symbol of a loaded library, or None."""
    if not hasattr(handle, symbol):
        return None
    return file_of(ctypes.cast(getattr(handle, symbol), ctypes.c_void_p).value)


def file_of(address):
    """Return the real path of the shared object that an address lies in, or None."""
    info = DlInfo()
    dladdr = ctypes.CDLL(None).dladdr
    dladdr.argtypes = (ctypes.c_void_p, ctypes.POINTER(DlInfo))
    if not address or not dladdr(address, ctypes.byref(info)) or not info.file:
        return None
    name = info.file
    return os.path.realpath(name if isinstance(name, str) else os.fsdecode(name))


def imports(path):
    """Return {symbol: [(offset, whether the object itself defines it)]} of a shared object.

    offset: of the slot, from the address at which the object is loaded. Raises ValueError if it is
    no 64-bit little-endian ELF shared object.
    """
    with open(path, "rb") as file:
        data = file.read()
    try:
        return _relocated_symbols(data)
    except (struct.error, IndexError, KeyError):
        raise ValueError("%s is no ELF64 shared object" % path)


def _relocated_symbols(data):
    if data[:6] != b"\x7fELF\x02\x01":
        raise KeyError("not ELF64")
    (table,), (size, count) = (
        struct.unpack_from("<Q", data, 32),
        struct.unpack_from("<HH", data, 54),
    )
    # Of each: kind, flags, offset in the file, address, physical address, length.
    places = range(table, table + size * count, size or 1)
    segments = [struct.unpack_from("<IIQQQQ", data, at) for at in places]

    def offset_of(address):
        for kind, _, offset, start, _, length in segments:
            if kind == LOAD and start <= address < start + length:
                return address - start + offset
        raise KeyError(address)

    tags = {}
    for kind, _, offset, _, _, length in segments:
        for record in range(offset, offset + length, 16) if kind == DYNAMIC else ():
            tags.setdefault(*struct.unpack_from("<QQ", data, record))
    strings, symbols, slots = offset_of(tags[STRTAB]), offset_of(tags[SYMTAB]), {}
    for start, length in ((RELA, RELASZ), (JMPREL, PLTRELSZ)):
        first = offset_of(tags[start]) if tags.get(start) else 0
        for record in range(first, first + tags[length], 24) if first else ():
            slot, info = struct.unpack_from("<QQ", data, record)
            name_at, _, _, section = struct.unpack_from("<IBBH", data, symbols + 24 * (info >> 32))
            if name_at:
                name = data[strings + name_at : data.index(b"\0", strings + name_at)]
                slots.setdefault(name.decode("ascii", "replace"), []).append((slot, section != 0))
    return slots
