"""Gives a compile folder of their own to those who may not write to this environment."""

import os

from _theano_stacks import OWN, PREFIX, _bytes

NAMES = ("base_compiledir", "compiledir")
HOME = os.environ.get("HOME", "")


def _name():
    import zlib

    return "%s-%08x" % (os.path.basename(PREFIX), zlib.crc32(_bytes(PREFIX)) & 0xFFFFFFFF)


def _bases():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(HOME, ".cache")
    temporary = os.environ.get("TMPDIR") or "/tmp"
    return (
        os.path.join(cache, "theano-stacks", "compiled"),
        os.path.join(temporary, "theano-stacks-%d" % os.geteuid()),
    )


def _is_own(folder):
    """Return whether only this person can write to a folder, which is made if it is not there."""
    import stat

    try:
        if not os.path.isdir(folder):
            os.makedirs(folder, 0o700)
        status = os.lstat(folder)
    except (IOError, OSError):
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not (
        status.st_mode & 0o022
    )


def _own_compile_folder():
    """Return a folder for what Theano compiles, in this person's cache or in TMPDIR; or None."""
    for base in _bases():
        folder = os.path.join(base, _name())
        # A comma ends a flag. In /tmp others could put modules of theirs where one's own belong.
        if os.path.isabs(base) and "," not in folder and _is_own(base) and _is_own(folder):
            return folder
    return None


def _is_of_another(flag):
    """Return whether a flag is what this hook has set for another environment's program."""
    name, _, folder = flag.strip().partition("=")
    base, last = os.path.split(folder)
    return name == "base_compiledir" and base in _bases() and last != _name()


def _lines(name):
    try:
        with open(os.path.join(HOME, name[2:]) if name[:2] == "~/" else name) as file:
            return file.read().splitlines()
    except (IOError, OSError, ValueError):
        return []


def _names_compile_folder(flags):
    settings = flags + [line.replace(":", "=") for name in OWN for line in _lines(name)]
    return any(setting.partition("=")[0].strip() in NAMES for setting in settings)


# An environment of another person, or on a disk that is read-only.
COMPILED = os.path.join(PREFIX, "var", "compiledir")
GIVEN_FLAGS = os.environ.get("@flags_variable@", "")
FLAGS = [flag for flag in GIVEN_FLAGS.split(",") if not _is_of_another(flag)]
IS_LOCKED = os.path.isdir(COMPILED) and not os.access(COMPILED, os.W_OK)
if IS_LOCKED and not _names_compile_folder(FLAGS):
    FOLDER = _own_compile_folder()
    if FOLDER:
        FLAGS = [flag for flag in FLAGS if flag] + ["base_compiledir=" + FOLDER]
if ",".join(FLAGS) != GIVEN_FLAGS:
    os.environ["@flags_variable@"] = ",".join(FLAGS)
