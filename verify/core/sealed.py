"""JSON files whose first line has the SHA-256 of the rest: a damaged one is noticed.

One of them is the record of the files that were compared with the manifest before, and had its
bytes. A file that is written, or replaced, gets another inode, size, or time of its last change,
which no program can set. A change below the file system, such as a broken disk's, shows only in a
full read.
"""

from __future__ import absolute_import, division, print_function

import errno
import hashlib
import json
import os
import stat

SCHEMA = 1


class SealError(Exception):
    """The file is missing, cannot be read or is damaged; the text says which."""


def read(path):
    """Return (SHA-256 in hexadecimal, content) of a sealed file. Raises SealError."""
    try:
        # A pipe or a device in its place would never end.
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise SealError("is not a regular file")
        with open(path, "rb") as file:
            head, _, body = file.read().partition(b"\n")
    except EnvironmentError as error:
        missing = error.errno in (errno.ENOENT, errno.ENOTDIR)
        raise SealError("is missing" if missing else "cannot be read: %s" % error.strerror)
    digest = hashlib.sha256(body).hexdigest()
    try:
        header = json.loads(head.decode("ascii"))
        if header != {"schema": SCHEMA, "sha256": digest}:
            raise ValueError
        return digest, json.loads(body.decode("utf-8"))
    # Python raises RuntimeError for too many levels.
    except (ValueError, RuntimeError):
        raise SealError("is damaged: its first line is not that of its content")


def text(content):
    """Return the bytes of a sealed file with this content."""
    body = (json.dumps(content, sort_keys=True) + "\n").encode("ascii")
    header = {"schema": SCHEMA, "sha256": hashlib.sha256(body).hexdigest()}
    return json.dumps(header, sort_keys=True).encode("ascii") + b"\n" + body


RECORD = b"var/checked.json"


def file_key(status):
    """Return what changes with a file, as text that is equal in every Python."""
    times = (status.st_ino, status.st_size, status.st_mtime, status.st_ctime)
    return "%d %d %.6f %.6f" % times


def load_record(prefix, manifest):
    """Return {path: key} of the files that were as in the manifest with this SHA-256.

    Empty if the record is missing, damaged or of another manifest.
    """
    try:
        content = read(os.path.join(prefix, RECORD))[1]
        if content["manifest"] != manifest:
            return {}
        return {path.encode("utf-8"): value + "" for path, value in content["files"].items()}
    # A user may write anything there.
    except (SealError, AttributeError, KeyError, TypeError, ValueError):
        return {}


def store_record(prefix, manifest, keys):
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
            file.write(text({"manifest": manifest, "files": files}))
        os.rename(part, path)
    except EnvironmentError:
        pass
