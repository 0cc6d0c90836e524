"""A folder of compiled modules that environments share, each named by the hash of its inputs.

theano_stacks_cache keeps graphs in a folder of the same kind.

Programs execute what is in the folder, so folder and files must belong to the user, and nobody else
may write to them. Each file begins with its own name and the hash of its content; one that is
truncated, changed or renamed is not used. Needs no Theano.
"""

import errno
import hashlib
import logging
import os
import re
import stat
import tempfile
import time

VARIABLE = "THEANO_STACKS_MODULES"
# Theano gives its own loggers a handler; without one Python 2 prints nothing of use.
LOGGER = logging.getLogger("theano.stacks_modules")
FORMAT = b"theano-stacks module 1\n"
HASH = 64
HEAD = len(FORMAT) + HASH + HASH + 1
# Total size of the files, bytes. Above it, the least recently used are removed.
LIMIT = 500 * 10**6
# The folder may hold a person's own files, which are never removed.
NAME = re.compile(r"[0-9a-f]{%d}$" % HASH)
BEGINNING, PART = "theano-stacks-", ".part"
PARTS = re.compile(re.escape(BEGINNING) + ".*" + re.escape(PART) + "$")
# Age at which an unfinished file is taken for a killed process's, seconds.
ABANDONED = 24 * 60 * 60
OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
# Numbers of modules taken from the folder, kept there, and compiled without being kept.
found = {"hits": 0, "kept": 0, "not kept": 0}


def store_of(environ):
    """Return the Store in the folder that the variable names, None where sharing is off."""
    folder = environ.get(VARIABLE, "0")
    if folder in ("", "0"):
        return None
    return opened(os.path.expanduser(folder), "modules are not shared")


def opened(folder, consequence, limit=LIMIT):
    """Return the Store in a folder, made where missing; None, with a warning, where unsafe."""
    try:
        return Store(folder, _owner(folder), limit)
    except EnvironmentError as error:
        LOGGER.warning("%s: %s: %s", consequence, folder, error.strerror)
        return None


def _owner(folder):
    """Return the user's ID if only this user may write to the folder; make it where missing.

    Raises EnvironmentError otherwise.
    """
    user = os.geteuid()
    if not os.path.isabs(folder):
        raise EnvironmentError(errno.EINVAL, "the path is not absolute")
    try:
        os.mkdir(folder, 0o700)
    except EnvironmentError as error:
        if error.errno != errno.EEXIST:
            raise
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode):
        raise EnvironmentError(errno.ENOTDIR, "not a folder")
    if status.st_uid != user:
        raise EnvironmentError(errno.EPERM, "belongs to another user")
    if status.st_mode & OTHERS_MAY_WRITE:
        raise EnvironmentError(errno.EPERM, "other users may write to it; fix: chmod go-w")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise EnvironmentError(errno.EACCES, "not writable")
    return user


class Store(object):
    """The modules in a user's folder."""

    def __init__(self, folder, user, limit=LIMIT):
        """Take a folder that _owner has checked, its user's ID, and a limit in bytes."""
        self.folder, self.user, self.limit = folder, user, limit
        self.trimmed = False

    def path(self, key):
        """Return the path of a module's file, which need not exist."""
        return os.path.join(self.folder, key)

    def has(self, key):
        """Return whether a file for the key exists; it may still be damaged."""
        return os.path.isfile(self.path(key))

    def take(self, key):
        """Return a module's bytes, None where the file is missing, damaged or not trusted."""
        path = self.path(key)
        try:
            content = _read(path, self.user)
        except EnvironmentError as error:
            if error.errno != errno.ENOENT:
                LOGGER.warning("%s is not used: %s", path, error.strerror)
            return None
        module = content[HEAD:]
        if content[:HEAD] != _head(key, module):
            self.drop(key, "the file is damaged, or another's")
            return None
        try:
            # For trim: file systems need not record the time of access.
            os.utime(path, None)
        except EnvironmentError:
            return None
        return module

    def drop(self, key, reason):
        """Remove a file that cannot be used, with one line; it is made again."""
        LOGGER.warning("%s is removed: %s", self.path(key), reason)
        try:
            os.remove(self.path(key))
        except EnvironmentError as error:
            # Another process has removed it, or the disk is read-only.
            LOGGER.info("not removed: %s", error)

    def keep(self, key, module):
        """Write a module's bytes in one step and return whether that worked."""
        part = None
        try:
            # Theano removes empty folders from its compile folder when it first looks through it.
            _owner(self.folder)
            if not self.trimmed:
                self.trimmed = True
                self.trim()
            handle, part = tempfile.mkstemp(PART, BEGINNING, self.folder)
            with os.fdopen(handle, "wb") as file:
                file.write(_head(key, module) + module)
            os.rename(part, self.path(key))
        except EnvironmentError as error:
            LOGGER.warning("%s: cannot be written: %s", self.folder, error.strerror)
            if part is not None and os.path.exists(part):
                os.remove(part)
            return False
        return True

    def trim(self):
        """Above the limit, remove the least recently used files down to four fifths of it."""
        files, now = [], time.time()
        for name in os.listdir(self.folder):
            path = os.path.join(self.folder, name)
            try:
                status = os.lstat(path)
                if NAME.match(name):
                    files.append((status.st_mtime, status.st_size, path))
                elif PARTS.match(name) and now - status.st_mtime > ABANDONED:
                    os.remove(path)
            except EnvironmentError:
                # Another process has removed it.
                continue
        total = sum(size for _, size, _ in files)
        if total <= self.limit:
            return
        for _, size, path in sorted(files):
            if total <= self.limit * 4 // 5:
                break
            try:
                os.remove(path)
            except EnvironmentError:
                continue
            total -= size


def hash_of(content):
    """Return the SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def _read(path, user):
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise EnvironmentError(errno.EINVAL, "not a file")
        if status.st_uid != user or status.st_mode & OTHERS_MAY_WRITE:
            raise EnvironmentError(errno.EPERM, "another user's, or other users may write to it")
        return file.read()


def _head(key, module):
    return FORMAT + key.encode("ascii") + hash_of(module).encode("ascii") + b"\n"
