"""Temporary folders, which the next start removes if their program was killed."""

from __future__ import absolute_import, division, print_function

import contextlib
import errno
import fcntl
import os
import re
import shutil
import stat
import tempfile

PREFIX = "theano-verify-"
# As tempfile.mkdtemp names them.
NAME = re.compile(re.escape(PREFIX) + "[a-zA-Z0-9_]{6,8}$")


@contextlib.contextmanager
def folder():
    """Give the path of a new temporary folder; remove it in the end.

    It is locked until this process and those that it forks have ended. Folders of this user that
    no process has locked are removed first.
    """
    _remove_unused()
    path, handle = _locked()
    owner = os.getpid()
    try:
        yield path
    finally:
        # A forked process leaves the block too, and its exit handlers may need the folder.
        if os.getpid() == owner:
            shutil.rmtree(path, True)
            os.close(handle)


def _locked():
    """Return (path, descriptor of its lock) of a new folder."""
    while True:
        path = tempfile.mkdtemp(prefix=PREFIX)
        try:
            handle = os.open(path, os.O_RDONLY)
        except EnvironmentError as error:
            if error.errno != errno.ENOENT:
                raise
            # Another start has taken the folder for an old one.
            continue
        fcntl.fcntl(handle, fcntl.F_SETFD, fcntl.fcntl(handle, fcntl.F_GETFD) | fcntl.FD_CLOEXEC)
        # It may also have been taken for one since then.
        if _lock(handle) is not False and os.path.isdir(path):
            return path, handle
        os.close(handle)


def _lock(handle):
    """Return whether a folder is locked now; None where the file system has no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except EnvironmentError as error:
        return False if error.errno == errno.EWOULDBLOCK else None


def _remove_unused():
    parent = tempfile.gettempdir()
    try:
        names = os.listdir(parent)
    except EnvironmentError:
        # A folder may be usable without being readable.
        return
    for name in names:
        if not NAME.match(name):
            continue
        path = os.path.join(parent, name)
        try:
            status = os.lstat(path)
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
                continue
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except EnvironmentError:
            continue
        try:
            if _lock(handle):
                shutil.rmtree(path, True)
        finally:
            os.close(handle)
