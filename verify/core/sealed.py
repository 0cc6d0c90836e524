"""JSON files whose first line has the SHA-256 of the rest: a damaged one is noticed."""

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
