"""Are the modules in the user's compile folder whole?

A full disk, a killed program or a copied home may leave a module cut off. The frameworks find it by
its key and load it without a check, so that each program ends with an ImportError.
"""

from __future__ import absolute_import, division, print_function

import glob
import os
import struct

from verify.core.config_files import sources_of
from verify.core.report import failed, passed, skipped
from verify.core.variables import quote

NAME = "compile folder"
# Of a configuration file: %(TMPDIR)s and the like.
INTERPOLATED = "%("
# elf(5): the identification of a 64-bit file, and the places in its header of e_shoff, e_shentsize
# and e_shnum, the table of sections, which linkers write last.
MAGIC, HEADER = b"\x7fELF\x02", 64
TABLE, COUNTS = (40, "<Q"), (58, "<HH")


def check(context):
    """Check that every module which the user's programs would load is a whole file."""
    folder, pattern = _folder(context)
    if INTERPOLATED in folder:
        return skipped(NAME, "its name, %s, is another one in each program" % folder)
    modules = sorted(glob.glob(os.path.join(folder, pattern)))
    broken = [path for path in modules if not is_whole(path)]
    if not broken:
        return passed(NAME, "%d modules in %s, all whole" % (len(modules), folder))
    folders = sorted({os.path.dirname(path) for path in broken})
    return failed(
        NAME,
        "%d of %d modules in %s are cut off: programs that load one end with an ImportError"
        % (len(broken), len(modules), folder),
        "remove them, and the framework compiles them again:\nrm -r -- "
        + " ".join(map(quote, folders)),
    )


def _folder(context):
    """Return the user's compile folder, and the pattern of its modules.

    The suite itself compiles into another one.
    """
    for flag, pattern in (("compiledir", "*/*.so"), ("base_compiledir", "*/*/*.so")):
        for _, value in sources_of(context, flag, own=True):
            return os.path.expanduser(value), pattern
    return os.path.expanduser("~/.%s" % context.framework.name), pattern


def is_whole(path):
    """Return whether a file is as long as its own header says; False if it is no 64-bit ELF."""
    try:
        with open(path, "rb") as file:
            header = file.read(HEADER)
        size = os.path.getsize(path)
    except EnvironmentError:
        return False
    if len(header) < HEADER or not header.startswith(MAGIC):
        return False
    (start,) = struct.unpack_from(TABLE[1], header, TABLE[0])
    length, count = struct.unpack_from(COUNTS[1], header, COUNTS[0])
    return size >= start + length * count
