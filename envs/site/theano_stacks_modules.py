"""Keeps compiled modules in a folder that environments share, each under the name of its inputs.

What is in the folder gets executed, so it must belong to the user alone, and so must each file. A
file has its own name in it and the hash of its content: what is cut off, changed or renamed is not
used. Needs no Theano.
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
LOGGER = logging.getLogger("theano_stacks_modules")
FORMAT = b"theano-stacks module 1\n"
HASH = 64
HEAD = len(FORMAT) + HASH + HASH + 1
# Bytes that the files may take together; when there are more, the least recently used go.
LIMIT = 500 * 10**6
# A person may choose a folder that has other files as well: those are nobody's to remove.
NAME = re.compile(r"[0-9a-f]{%d}$" % HASH)
BEGINNING, PART = "theano-stacks-", ".part"
PARTS = re.compile(re.escape(BEGINNING) + ".*" + re.escape(PART) + "$")
# Seconds after which the file of a process that was killed is no longer under way.
ABANDONED = 24 * 60 * 60
OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
# How many modules were found, kept, and compiled without being kept.
found = {"hits": 0, "kept": 0, "not kept": 0}


def chosen(environ):
    """Return the Store in the folder that the variables name; None where there is to be none."""
    folder = environ.get(VARIABLE, "0")
    if folder in ("", "0"):
        return None
    folder = os.path.expanduser(folder)
    try:
        return Store(folder, _checked(folder))
    except EnvironmentError as error:
        LOGGER.warning("modules are not shared: %s: %s", folder, error.strerror)
        return None


def _checked(folder):
    """Return the user whose folder it is, and who may write there alone; make it where missing."""
    user = os.geteuid()
    if not os.path.isabs(folder):
        raise EnvironmentError(errno.EINVAL, "it is no absolute path")
    try:
        os.mkdir(folder, 0o700)
    except EnvironmentError as error:
        if error.errno != errno.EEXIST:
            raise
    told = os.lstat(folder)
    if not stat.S_ISDIR(told.st_mode):
        raise EnvironmentError(errno.ENOTDIR, "it is no folder")
    if told.st_uid != user:
        raise EnvironmentError(errno.EPERM, "it belongs to another user")
    if told.st_mode & OTHERS_MAY_WRITE:
        raise EnvironmentError(errno.EPERM, "others may write there (chmod go-w)")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise EnvironmentError(errno.EACCES, "it may not be written")
    return user


class Store(object):
    """The modules in a folder of a user's."""

    def __init__(self, folder, user, limit=LIMIT):
        """Take a folder that was checked; `limit` is in bytes."""
        self.folder, self.user, self.limit = folder, user, limit
        self.trimmed = False

    def place(self, key):
        """Return the path of the file that has or would have a module."""
        return os.path.join(self.folder, key)

    def has(self, key):
        """Say whether there is a file for a key; it may yet turn out not to be whole."""
        return os.path.isfile(self.place(key))

    def take(self, key):
        """Return a module's bytes; None where it is not there, not whole, or not to be trusted."""
        path = self.place(key)
        try:
            content = _read(path, self.user)
        except EnvironmentError as error:
            if error.errno != errno.ENOENT:
                LOGGER.warning("%s is not used: %s", path, error.strerror)
            return None
        module = content[HEAD:]
        if content[:HEAD] != _head(key, module):
            LOGGER.warning("%s is not whole, or another's: compiling anew", path)
            return None
        try:
            # The time says when it was last used, which the disk itself need not note.
            os.utime(path, None)
        except EnvironmentError:
            return None
        return module

    def keep(self, key, module):
        """Keep a module's bytes; say if it could be done. Others see all of the file or nothing."""
        part = None
        try:
            if not self.trimmed:
                self.trimmed = True
                self.trim()
            handle, part = tempfile.mkstemp(PART, BEGINNING, self.folder)
            with os.fdopen(handle, "wb") as file:
                file.write(_head(key, module) + module)
            os.rename(part, self.place(key))
        except EnvironmentError as error:
            LOGGER.warning("%s: nothing can be kept: %s", self.folder, error.strerror)
            if part is not None and os.path.exists(part):
                os.remove(part)
            return False
        return True

    def trim(self):
        """Remove the least recently used, down to four fifths, where there is too much."""
        files, now = [], time.time()
        for name in os.listdir(self.folder):
            path = os.path.join(self.folder, name)
            try:
                told = os.lstat(path)
                if NAME.match(name):
                    files.append((told.st_mtime, told.st_size, path))
                elif PARTS.match(name) and now - told.st_mtime > ABANDONED:
                    os.remove(path)
            except EnvironmentError:
                # Another process was faster.
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
        told = os.fstat(file.fileno())
        if not stat.S_ISREG(told.st_mode):
            raise EnvironmentError(errno.EINVAL, "it is no file")
        if told.st_uid != user or told.st_mode & OTHERS_MAY_WRITE:
            raise EnvironmentError(errno.EPERM, "it is another user's, or others may write to it")
        return file.read()


def _head(key, module):
    return FORMAT + key.encode("ascii") + hash_of(module).encode("ascii") + b"\n"
