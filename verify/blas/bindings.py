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
    bases = mapped_files()
    bindings = []
    for path in paths:
        base = bases.get(path)
        if base is None:
            continue
        try:
            slots = imports(path)
        except (UnreadableError, EnvironmentError):
            continue
        for symbol in symbols:
            for offset, defined in slots.get(symbol, ())[:1]:
                address = ctypes.c_uint64.from_address(base + offset).value
                library = file_of(address)
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
    return any(file_of(each) == os.path.realpath(path) for each in addresses)


def loaded(path):
    """Return the handle of a library that this process has loaded. Raises OSError if it has not."""
    return ctypes.CDLL(path, mode=RTLD_NOLOAD | RTLD_LAZY)


def _lookup(path, symbol):
    for handle in (ctypes.CDLL(None), loaded(path)):
        if hasattr(handle, symbol):
            return file_of(ctypes.cast(getattr(handle, symbol), ctypes.c_void_p).value)
    return None


def modules_below(folder):
    """Return the mapped files below a folder."""
    folder = os.path.realpath(folder) + os.sep
    return [path for path in mapped_files() if path.startswith(folder)]


def modules_of(package):
    """Return the mapped files below the folder of a package, none if it is not imported."""
    module = sys.modules.get(package)
    return modules_below(os.path.dirname(module.__file__)) if module else []


class UnreadableError(Exception):
    """A file is not a 64-bit little-endian ELF shared object."""


class DlInfo(ctypes.Structure):
    """The result of dladdr(3)."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


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

    offset: of the slot, from the address at which the object is loaded. Raises UnreadableError.
    """
    with open(path, "rb") as file:
        data = file.read()
    try:
        return _relocated_symbols(data)
    except (struct.error, IndexError, KeyError, ValueError):
        raise UnreadableError(path)


def _relocated_symbols(data):
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not ELF64")
    segments = _segments(data)
    tags = _dynamic_tags(data, segments)
    strings, symbols = _offset(segments, tags[STRTAB]), _offset(segments, tags[SYMTAB])
    slots = {}
    for start, size in ((RELA, RELASZ), (JMPREL, PLTRELSZ)):
        if not tags.get(start):
            continue
        at = _offset(segments, tags[start])
        for record in range(at, at + tags[size], 24):
            slot, info = struct.unpack_from("<QQ", data, record)
            symbol = symbols + 24 * (info >> 32)
            name_at, _, _, section = struct.unpack_from("<IBBH", data, symbol)
            if not name_at:
                continue
            name = data[strings + name_at : data.index(b"\0", strings + name_at)]
            slots.setdefault(name.decode("ascii", "replace"), []).append((slot, section != 0))
    return slots


def _segments(data):
    table, size, count = (
        struct.unpack_from("<Q", data, 32)[0],
        struct.unpack_from("<H", data, 54)[0],
        struct.unpack_from("<H", data, 56)[0],
    )
    segments = []
    for number in range(count):
        kind, _, offset, address, _, length = struct.unpack_from(
            "<IIQQQQ", data, table + number * size
        )
        segments.append((kind, offset, address, length))
    return segments


def _dynamic_tags(data, segments):
    tags = {}
    for kind, offset, _, length in segments:
        if kind == DYNAMIC:
            for record in range(offset, offset + length, 16):
                tag, value = struct.unpack_from("<QQ", data, record)
                tags.setdefault(tag, value)
    return tags


def _offset(segments, address):
    for kind, offset, start, length in segments:
        if kind == LOAD and start <= address < start + length:
            return address - start + offset
    raise ValueError("address outside of the file")
