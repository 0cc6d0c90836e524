"""Read the relocations of ELF shared objects: the slots that hold the addresses of their calls.

Layout and constants: System V ABI, AMD64 supplement; elf(5).
"""

from __future__ import absolute_import, division, print_function

import ctypes
import os
import struct

DYNAMIC, LOAD = 2, 1
STRTAB, SYMTAB, RELA, RELASZ, PLTRELSZ, JMPREL = 5, 6, 7, 8, 2, 23


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
