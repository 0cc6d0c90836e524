"""Compare the files of an environment with its manifest, which the builder has written.

A record has the files that were compared before, and had the manifest's bytes. A file that is
written, or replaced, gets another inode, size, or time of its last change, which no program can
set. A change below the file system, such as a broken disk's, shows only in a full read.

Paths are bytes, relative to the environment: names need not be text in the user's locale.
"""

from __future__ import absolute_import, division, print_function

import collections
import hashlib
import os
import re
import stat
import time

from verify.core import expectation

MANIFEST = "etc/theano-stacks/files.json"
# Not in the manifest. Programs write below var; the builder writes the others after it.
IGNORED_FOLDER = b"var"
RECORD = b"var/checked.json"
IGNORED = (b"etc/theano-stacks/files.json", b"etc/theano-stacks/ready.json", b"conda-meta/history")
FILE, LINK = "file", "link"
CHUNK = 1 << 20
CONTROL = re.compile(b"[\x00-\x1f\x7f-\xc2\x9f]".decode("utf-8"))
UNREADABLE = "cannot be read: %s"

Difference = collections.namedtuple("Difference", "path problem")
# entries: {path: ["file", mode, size, SHA-256] or ["link", target]} of the manifest.
# found: {path: lstat result} of all files but folders.
# differences: [Difference] of the manifest's files. extra: the paths that it does not have.
Comparison = collections.namedtuple("Comparison", "entries found differences extra")


def compare(prefix, full=False):
    """Return the Comparison of an environment's folder with its manifest. Raises SealError.

    full: read every file; else only those that have changed since they were last read.
    """
    prefix = to_bytes(prefix)
    digest, entries = load(prefix)
    found, unreadable = scan(prefix)
    differences = _replaced_folders(entries, found) + unreadable
    folders = {difference.path for difference in differences}
    hidden = tuple(folder + b"/" for folder in folders)
    missing = [path for path in entries if path not in found and not path.startswith(hidden)]
    differences += [Difference(path, "missing") for path in missing]
    known, good, start = {} if full else load_record(prefix, digest), {}, time.time()
    for path in set(entries).intersection(found):
        entry, status = entries[path], found[path]
        problems = [_visible_problem(prefix, path, entry, status)]
        # With another mode too: its bytes may differ as well.
        if entry[0] == FILE == _kind(status.st_mode) and status.st_size == entry[2]:
            key = file_key(status)
            is_known = known.get(path) == key
            changed = None if is_known else _content_problem(prefix, path, entry[3])
            problems.append(changed)
            # A file that changes again within one tick of the clock keeps its times.
            if changed is None and (is_known or status.st_ctime < start - 1):
                good[path] = key
        differences += [Difference(path, problem) for problem in problems if problem]
    if good != known:
        store_record(prefix, digest, good)
    extra = set(found) - set(entries) - folders
    return Comparison(entries, found, sorted(differences), sorted(extra))


def load(prefix):
    """Return (SHA-256, entries) of the manifest of an environment's folder. Raises SealError.

    The SHA-256 is that of the entries' text.
    """
    digest, content = expectation.read_sealed(os.path.join(to_bytes(prefix), to_bytes(MANIFEST)))
    try:
        return digest, {to_bytes(path): entry for path, entry in content.items()}
    except (AttributeError, ValueError):
        raise expectation.SealError("is damaged: it has another form")


def sources_digest(prefix):
    """Return a name for the Python files of an environment, as its manifest has them, or None.

    Python takes bytecode by the time and size of a file: the builder sets all times to one.
    """
    try:
        entries = expectation.read_sealed(os.path.join(prefix, MANIFEST))[1]
    except expectation.SealError:
        return None
    lines = ["%s %s" % (path, entries[path][-1]) for path in sorted(entries) if path[-3:] == ".py"]
    return hashlib.sha256("\n".join(lines).encode("utf-8")).hexdigest()[:16]


def scan(prefix):
    """Return ({path: lstat result}, [Difference]) of the files below a folder, links not followed.

    The differences are the folders that cannot be read.
    """
    found, unreadable, folders = {}, [], [b""]
    while folders:
        folder = folders.pop()
        try:
            names = os.listdir(os.path.join(prefix, folder))
            children = [(name, os.lstat(os.path.join(prefix, folder, name))) for name in names]
        except EnvironmentError as error:
            unreadable.append(Difference(folder, UNREADABLE % error.strerror))
            continue
        for name, status in children:
            path = os.path.join(folder, name)
            if path == IGNORED_FOLDER or path in IGNORED:
                continue
            if stat.S_ISDIR(status.st_mode):
                folders.append(path)
            else:
                found[path] = status
    return found, unreadable


def _replaced_folders(entries, found):
    """Return a Difference for each file or link where the manifest has a folder."""
    folders = set()
    for path in entries:
        path = os.path.dirname(path)
        while path and path not in folders:
            folders.add(path)
            path = os.path.dirname(path)
    return [
        Difference(path, "changed: a %s, not a folder" % _kind(found[path].st_mode))
        for path in sorted(folders.intersection(found))
    ]


def _visible_problem(prefix, path, entry, status):
    """Return what differs between an entry and a file without reading it, or None."""
    kind = _kind(status.st_mode)
    if kind != entry[0]:
        return "changed: a %s, not a %s" % (kind, entry[0])
    if kind == LINK:
        target = os.readlink(os.path.join(prefix, path))
        if target == to_bytes(entry[1]):
            return None
        return "changed: a link to %s, not to %s" % (display(target), printable(entry[1]))
    mode = stat.S_IMODE(status.st_mode)
    problems = []
    expected = int(entry[1], 8)
    # Who shares an environment may take away the right to write.
    if mode | expected & 0o222 != expected:
        problems.append("mode %03o, not %s" % (mode, entry[1]))
    if status.st_size != entry[2]:
        problems.append("{:,} bytes, not {:,}".format(status.st_size, entry[2]))
    return "changed: " + ", ".join(problems) if problems else None


def _kind(mode):
    if stat.S_ISREG(mode):
        return FILE
    return LINK if stat.S_ISLNK(mode) else "pipe, socket or device"


def _content_problem(prefix, path, expected):
    """Return what differs between a file's SHA-256 and the expected one, or None."""
    digest = hashlib.sha256()
    try:
        # The file may have become a link or a pipe since it was listed.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with os.fdopen(os.open(os.path.join(prefix, path), flags), "rb") as file:
            for chunk in iter(lambda: file.read(CHUNK), b""):
                digest.update(chunk)
    except EnvironmentError as error:
        return UNREADABLE % error.strerror
    found = digest.hexdigest()
    words = (found[:12], expected[:12])
    return "changed: SHA-256 %s..., not %s..." % words if found != expected else None


def to_bytes(path):
    """Return a path as bytes: text of JSON or of a command line is UTF-8."""
    if isinstance(path, bytes):
        return path
    return path.encode("utf-8", "strict" if bytes is str else "surrogateescape")


def display(path):
    """Return a path of bytes as text for a person, with `?` for control characters."""
    return printable(path.decode("utf-8", "replace"))


def printable(text):
    """Return text with `?` for the characters that would control a terminal."""
    return CONTROL.sub("?", text)


def file_key(status):
    """Return what changes with a file, as text that is equal in every Python."""
    times = (status.st_ino, status.st_size, status.st_mtime, status.st_ctime)
    return "%d %d %.6f %.6f" % times


def load_record(prefix, manifest):
    """Return {path: key} of the files that were as in the manifest with this SHA-256.

    Empty if the record is missing, damaged or of another manifest.
    """
    try:
        content = expectation.read_sealed(os.path.join(prefix, RECORD))[1]
        if content["manifest"] != manifest:
            return {}
        return {path.encode("utf-8"): value + "" for path, value in content["files"].items()}
    # A user may write anything there.
    except (expectation.SealError, AttributeError, KeyError, TypeError, ValueError):
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
            file.write(expectation.sealed_text({"manifest": manifest, "files": files}))
        os.rename(part, path)
    except EnvironmentError:
        pass
