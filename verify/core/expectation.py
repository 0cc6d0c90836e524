"""Files of the builder: the expectation, what it has locked; JSON that is sealed.

The first line of a sealed file has the SHA-256 of the rest: a damaged one is noticed.
"""

from __future__ import absolute_import, division, print_function

import errno
import hashlib
import io
import json
import os
import stat

from verify.core import portable

SCHEMA = 1
TEXT = (portable.TEXT, str)
# {key, with ? if it may be missing: its type}.
PACKAGE = {"name": TEXT, "version": TEXT, "sha256": TEXT, "manager": TEXT, "module?": object}
BLAS = {"name": TEXT, "ldflags": TEXT, "libraries": list, "alone?": object}
NAMES = ("variant", "framework", "module", "version", "python", "floatX")
FORM = {"schema": int, "baseline": bool, "flags": dict, "blas": object, "packages": list}
FORM.update({"accelerator?": list, "lock?": object, "verified?": object})
FORM.update(dict.fromkeys(NAMES, TEXT))


class ExpectationError(Exception):
    """The file cannot be read or is not valid; the text names the file and the key."""


def load(path):
    """Return the content of an expectation file as a dictionary. Raises ExpectationError."""
    try:
        # A pipe or a device in its place would never end.
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ExpectationError("%s: not a regular file" % path)
        with io.open(path, encoding="utf-8") as file:
            content = json.load(file)
    except (OSError, IOError) as error:
        raise ExpectationError("%s: %s" % (path, error.strerror))
    # Python raises RuntimeError for too many levels.
    except (ValueError, RuntimeError) as error:
        raise ExpectationError("%s: not JSON: %s" % (path, error))
    try:
        _check(content, FORM, "")
        if content["schema"] != SCHEMA:
            raise ExpectationError("schema: expected %d, found %r" % (SCHEMA, content["schema"]))
        if content["blas"] is not None:
            _check(content["blas"], BLAS, "blas.")
        for number, package in enumerate(content["packages"]):
            _check(package, PACKAGE, "packages[%d]." % number)
    except ExpectationError as error:
        raise ExpectationError("%s: %s" % (path, error))
    return content


def _check(content, form, where):
    """Raise ExpectationError unless an object has the keys of its form, and no other."""
    if not isinstance(content, dict):
        raise ExpectationError("%sexpected an object" % where)
    names = {key.rstrip("?"): key for key in form}
    for name in sorted(set(names) | set(content)):
        if name not in names:
            raise ExpectationError("%s%s is unknown" % (where, name))
        if name not in content and names[name] == name:
            raise ExpectationError("%s%s is missing" % (where, name))
        if name in content and not isinstance(content[name], form[names[name]]):
            raise ExpectationError("%s%s has the wrong type: %r" % (where, name, content[name]))


SEAL_SCHEMA = 1


class SealError(Exception):
    """The file is missing, cannot be read or is damaged; the text says which."""


def read_sealed(path):
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
        if header != {"schema": SEAL_SCHEMA, "sha256": digest}:
            raise ValueError
        return digest, json.loads(body.decode("utf-8"))
    # Python raises RuntimeError for too many levels.
    except (ValueError, RuntimeError):
        raise SealError("is damaged: its first line is not that of its content")


def sealed_text(content):
    """Return the bytes of a sealed file with this content."""
    body = (json.dumps(content, sort_keys=True) + "\n").encode("ascii")
    header = {"schema": SEAL_SCHEMA, "sha256": hashlib.sha256(body).hexdigest()}
    return json.dumps(header, sort_keys=True).encode("ascii") + b"\n" + body
