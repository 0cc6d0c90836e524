"""Compare the files of an environment with its manifest, which the builder has written.

A record has the files that were compared before, and had the manifest's bytes. A file that is
written, or replaced, gets another inode, size, or time of its last change, which no program can
set. A change below the file system, such as a broken disk's, shows only in a full read.

Paths are bytes, relative to the environment: names need not be text in the user's locale.
"""

from __future__ import absolute_import, division, print_function

import collections
import contextlib
import hashlib
import os
import re
import stat
import time
from multiprocessing.pool import ThreadPool

from verify.core import expectation, machine

MANIFEST = "etc/theano-stacks/files.json"
# Not in the manifest. Programs write below var; the builder writes the others after it.
IGNORED_FOLDER = b"var"
RECORD = b"var/checked.json"
IGNORED = (b"etc/theano-stacks/files.json", b"etc/theano-stacks/ready.json", b"conda-meta/history")
FILE, LINK = "file", "link"
CHUNK = 1 << 20
CONTROL = re.compile(b"[\x00-\x1f\x7f-\xc2\x9f]".decode("utf-8"))
MOST_THREADS = 8

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
    readable = []
    for path, entry in entries.items():
        if path in found:
            problem = _visible_problem(prefix, path, entry, found[path])
        else:
            problem = None if path.startswith(hidden) else "missing"
        if problem:
            differences.append(Difference(path, problem))
        # With another mode too: its bytes may differ as well.
        is_file = path in found and entry[0] == FILE == _kind(found[path].st_mode)
        if is_file and found[path].st_size == entry[2]:
            readable.append(path)
    differences += _changed_contents(prefix, digest, entries, found, sorted(readable), full)
    extra = set(found) - set(entries) - folders
    return Comparison(entries, found, sorted(differences), sorted(extra))


def _changed_contents(prefix, digest, entries, found, paths, full):
    """Return a Difference for each of the paths whose bytes differ; write the record of the rest.

    digest: the manifest's.
    """
    known = {} if full else load_record(prefix, digest)
    keys = {path: file_key(found[path]) for path in paths}
    start = time.time()
    contents = digests(prefix, [path for path in paths if known.get(path) != keys[path]])
    differences = [
        Difference(path, error or "changed: SHA-256 %s..., not %s..." % (have[:12], want[:12]))
        for path, (have, error) in contents.items()
        for want in (entries[path][3],)
        if have != want
    ]
    wrong = {difference.path for difference in differences}
    good = {
        path: keys[path]
        for path in paths
        if path not in wrong
        # A file that changes again within one tick of the clock keeps its times.
        and (path not in contents or found[path].st_ctime < start - 1)
    }
    if good != known:
        store_record(prefix, digest, good)
    return differences


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
            unreadable.append(_unreadable(folder, error))
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


def digests(prefix, paths):
    """Return {path: (SHA-256 in hexadecimal, None) or (None, why it cannot be read)}."""
    if not paths:
        return {}

    def digest(path):
        try:
            return _sha256(os.path.join(prefix, path)), None
        except EnvironmentError as error:
            return None, _unreadable(path, error).problem

    try:
        pool = ThreadPool(min(machine.usable_cores(), MOST_THREADS))
    except (EnvironmentError, RuntimeError):
        # Its semaphores need /dev/shm, and a limit may allow no more threads.
        return {path: digest(path) for path in paths}
    with contextlib.closing(pool):
        return dict(zip(paths, pool.map(digest, paths)))


def _sha256(path):
    digest = hashlib.sha256()
    # The file may have become a link or a pipe since it was listed.
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as file:
        for chunk in iter(lambda: file.read(CHUNK), b""):
            digest.update(chunk)
    return digest.hexdigest()


def _unreadable(path, error):
    return Difference(path, "cannot be read: %s" % error.strerror)


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
