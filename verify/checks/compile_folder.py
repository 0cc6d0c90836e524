"""Are the modules in the user's compile folder whole?

A full disk, a killed program or a copied home may leave a module cut off. The frameworks find it by
its key and load it without a check, so that each program ends with an ImportError.
"""

from __future__ import absolute_import, division, print_function

import os
import struct

from verify.core.config_files import sources_of
from verify.core.report import failed, passed, skipped
from verify.core.surroundings import quote
from verify.core.text import matching, native, text

NAME = "compile folder"
# Of a configuration file: %(TMPDIR)s and the like.
INTERPOLATED = "%("
# The modules below a folder that has one for each Python, processor and version.
BASE = "*/*/*.so"
# elf(5): the identification of a 64-bit file, and the places in its header of e_shoff, e_shentsize
# and e_shnum, the table of sections, which linkers write last.
MAGIC, HEADER = b"\x7fELF\x02", 64
TABLE, COUNTS = (40, "<Q"), (58, "<HH")


def check(context):
    """Check that every module which the user's programs would load is a whole file."""
    folder, pattern = _folder(context)
    if INTERPOLATED in folder:
        return skipped(NAME, "its name, %s, is another one in each program" % text(folder))
    refused = _refused(context, folder, pattern)
    if refused:
        return failed(
            NAME,
            "%s may not be written: each program ends at the import" % text(refused),
            "make it yours, or choose another folder before Python starts:\n"
            "export %s=base_compiledir=FOLDER" % context.framework.flags_variable,
        )
    modules = matching(folder, pattern)
    broken = [path for path in modules if not _is_in_the_making(path) and not is_whole(path)]
    if not broken:
        return passed(NAME, "%d modules in %s, all whole" % (len(modules), text(folder)))
    folders = sorted({os.path.dirname(path) for path in broken})
    return failed(
        NAME,
        "%d of %d modules in %s are cut off: programs that load one end with an ImportError"
        % (len(broken), len(modules), text(folder)),
        "remove them, and the framework compiles them again:\nrm -r -- "
        + text(" ".join(map(quote, folders))),
    )


def _folder(context):
    """Return the user's compile folder, and the pattern of its modules.

    The suite itself compiles into another one.
    """
    for flag, pattern in (("compiledir", "*/*.so"), ("base_compiledir", BASE)):
        for _, value in sources_of(context, flag, own=True):
            return os.path.expanduser(native(value)), pattern
    return os.path.expanduser("~/.%s" % context.framework.name), BASE


def _refused(context, folder, pattern):
    """Return the folder that keeps a program from compiling, or ""."""
    # Below a base is what a program makes, or finds: the suite's own folder has the same name.
    own = os.path.basename(str(context.framework.flag("compiledir") or ""))
    path = os.path.join(folder, own) if pattern == BASE else folder
    while not os.path.exists(path) and os.path.dirname(path) != path:
        path = os.path.dirname(path)
    return "" if os.path.isdir(path) and os.access(path, os.R_OK | os.W_OK | os.X_OK) else path


def _is_in_the_making(path):
    # The key is written last. A program may also have moved the module since it was listed.
    folder = os.path.dirname(path)
    making = os.path.basename(folder).startswith("tmp")
    return not os.path.exists(path) or (
        making and not os.path.exists(os.path.join(folder, "key.pkl"))
    )


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
