"""The record of the files that were compared with the manifest before, and had its bytes.

A file that is written, or replaced, gets another inode, size, or time of its last change, which no
program can set. A change below the file system, such as a broken disk's, shows only in a full read.
"""

from __future__ import absolute_import, division, print_function

import os

from verify.core import sealed

RECORD = b"var/checked.json"


def key(status):
    """Return what changes with a file, as text that is equal in every Python."""
    times = (status.st_ino, status.st_size, status.st_mtime, status.st_ctime)
    return "%d %d %.6f %.6f" % times


def load(prefix, manifest):
    """Return {path: key} of the files that were as in the manifest with this SHA-256.

    Empty if the record is missing, damaged or of another manifest.
    """
    try:
        content = sealed.read(os.path.join(prefix, RECORD))[1]
        if content["manifest"] != manifest:
            return {}
        return {path.encode("utf-8"): value + "" for path, value in content["files"].items()}
    # A user may write anything there.
    except (sealed.SealError, AttributeError, KeyError, TypeError, ValueError):
        return {}


def store(prefix, manifest, keys):
    """Replace the record if the user may write it; a reader sees the one before or this one."""
    files = {path.decode("utf-8", "replace"): value for path, value in keys.items()}
    path = os.path.join(prefix, RECORD)
    part = path + b".part"
    try:
        # The folder may be a link to a place outside, which is not the environment's to write.
        if os.path.islink(os.path.dirname(path)):
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        with os.fdopen(os.open(part, flags, 0o644), "wb") as file:
            file.write(sealed.text({"manifest": manifest, "files": files}))
        os.rename(part, path)
    except EnvironmentError:
        pass
