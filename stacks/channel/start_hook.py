"""The modules of an environment that run at each start of its Python, as templates.

settings_files.py fills them in; what they set holds however Python is started.
"""

from __future__ import annotations

# Runs under every Python that a prefix can have, from 2.7 on.
SOURCE = '''\
"""Names this environment's settings to {module}; the user's own may add to them."""

import os
import sys

PREFIX = getattr(sys, "base_prefix", sys.prefix)
SETTINGS = os.path.join(PREFIX, "etc", "theanorc")
OTHERS = os.environ.get({rc_variable!r}, os.path.join("~", ".{module}rc"))


def _of_environment(name):
    # In `etc`: a checkout of the project beside the user's own file has the same name.
    folder = os.path.dirname(name)
    own = os.path.join(folder, "theano-stacks")
    return os.path.basename(folder) == "etc" and os.path.isdir(own)


# A program of another environment may have started this one: its settings end here.
OWN = [name for name in OTHERS.split(os.pathsep) if not _of_environment(name)]
os.environ[{rc_variable!r}] = os.pathsep.join([SETTINGS] + OWN)
# The compiler's name in the settings is bare, because Theano cannot take a path with blanks in it.
SCRIPTS = os.path.join(PREFIX, "bin")
PATH = os.environ.get("PATH", os.defpath).split(os.pathsep)
# The scripts of a virtual environment come before those of the environment that it stands on.
FIRST = [SCRIPTS] if sys.prefix == PREFIX else [os.path.join(sys.prefix, "bin"), SCRIPTS]
if PATH[: len(FIRST)] != FIRST:
    os.environ["PATH"] = os.pathsep.join(FIRST + PATH)


def _bytes(path):
    return path if isinstance(path, bytes) else os.fsencode(path)


def _url(path):
    """Return the address of a file: pip's settings separate by blanks."""
    codes = bytearray(_bytes(path))
    return "file://" + "".join(chr(c) if chr(c) in UNQUOTED else "%%%02X" % c for c in codes)


UNQUOTED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~/"
# pip reads this environment's pip.conf, but not in a virtual environment, and a variable replaces
# it. The constraints of another environment end here.
GIVEN = os.environ.get("PIP_CONSTRAINT", "").split()
CONSTRAINTS = os.path.join(PREFIX, {constraints!r})
if GIVEN or sys.prefix != PREFIX:
    HELD = [name for name in GIVEN if not name.endswith("/" + {constraints!r})]
    # An environment that another conda client made has none.
    if os.path.exists(CONSTRAINTS):
        HELD.append(_url(CONSTRAINTS))
    os.environ["PIP_CONSTRAINT"] = " ".join(HELD)
# The number of threads of another environment ends here.
NAME, _, NUMBER = os.environ.pop({threads_variable!r}, "").partition("=")
if NAME and os.environ.get(NAME) == NUMBER:
    del os.environ[NAME]
WRITABLE = os.access(os.path.join(PREFIX, "var"), os.W_OK)
for name, value in {environment!r}:
    # A folder to keep things in is of no use to a person who may not write to it.
    if WRITABLE or not value.startswith("{{prefix}}/var/"):
        os.environ.setdefault(name, value.replace("{{prefix}}", PREFIX))
# Where environments share compiled modules: the builder writes it, whatever the path has in it.
try:
    with open(os.path.join(PREFIX, {modules!r}), "rb") as file:
        MODULES = file.read()
except (IOError, OSError):
    MODULES = b""
if not isinstance(MODULES, str):
    MODULES = os.fsdecode(MODULES)
if MODULES and os.access(os.path.dirname(MODULES), os.W_OK):
    os.environ.setdefault("{modules_variable}", MODULES)


def _text(*path):
    try:
        with open(os.path.join(*path)) as file:
            return file.read()
    except (IOError, OSError, ValueError):
        return ""


def _words(*path):
    return _text(*path).split()


def _processors():
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.sysconf("SC_NPROCESSORS_ONLN")


def _quota():
    """Return the processors that control groups allow this process, rounded up; 0 for no limit."""
    limits = []
    for line in _text("/proc/self/cgroup").splitlines():
        controllers, _, path = line.partition(":")[2].partition(":")
        base = ("/sys/fs/cgroup/" + controllers).rstrip("/")
        while True:
            folder = base + path.rstrip("/")
            limits.append(_words(folder, "cpu.max"))
            limits.append(
                _words(folder, "cpu.cfs_quota_us") + _words(folder, "cpu.cfs_period_us")
            )
            if path in ("", "/"):
                break
            path = os.path.dirname(path)
    pairs = [pair for pair in limits if len(pair) == 2 and pair[0] not in ("max", "-1")]
    return min([-(-int(quota) // int(period)) for quota, period in pairs] or [0])


def _processor():
    """Return vendor, family and flags of the first processor that the kernel tells of."""
    fields = {{}}
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                name, colon, value = line.partition(":")
                if not colon:
                    break
                fields[name.strip()] = value.strip()
    except (IOError, OSError):
        pass
    family = fields.get("cpu family", "")
    flags = set(fields.get("flags", "").split())
    return fields.get("vendor_id"), int(family) if family.isdigit() else 0, flags


PROCESSORS = {processors!r}
if PROCESSORS:
    VENDOR, FAMILY, FLAGS = _processor()
for flags, known, variables in PROCESSORS:
    if FLAGS.issuperset(flags) and FAMILY > dict(known).get(VENDOR, -1):
        for name, value in variables:
            os.environ.setdefault(name, value)
        break

THREADS = {threads!r}
if THREADS and not any(os.environ.get(name) for name in THREADS):
    AFFINE, QUOTA = _processors(), _quota()
    USABLE = min(AFFINE, QUOTA) if QUOTA else AFFINE
    # Libraries count the processors by themselves, but not a quota.
    if USABLE < AFFINE or {one_thread!r}:
        os.environ[THREADS[0]] = str(USABLE)
        os.environ[{threads_variable!r}] = THREADS[0] + "=" + str(USABLE)
'''

# A module of its own: an image has another one in its place.
COMPILE_SOURCE = '''\
"""Gives a compile folder of their own to those who may not write to this environment."""

import os

from {hook} import OWN, PREFIX, _bytes

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
GIVEN_FLAGS = os.environ.get({flags_variable!r}, "")
FLAGS = [flag for flag in GIVEN_FLAGS.split(",") if not _is_of_another(flag)]
IS_LOCKED = os.path.isdir(COMPILED) and not os.access(COMPILED, os.W_OK)
if IS_LOCKED and not _names_compile_folder(FLAGS):
    FOLDER = _own_compile_folder()
    if FOLDER:
        FLAGS = [flag for flag in FLAGS if flag] + ["base_compiledir=" + FOLDER]
if ",".join(FLAGS) != GIVEN_FLAGS:
    os.environ[{flags_variable!r}] = ",".join(FLAGS)
'''

# Only where the variant has a device. Theano logs the error of a device that it cannot open, and
# computes on the processor. Nothing is imported before Theano is.
DEVICE_SOURCE = '''\
"""Ends the import of Theano with an error where it cannot open this environment's device."""

import os
import sys


class _Watch(object):
    """A finder on sys.meta_path that checks theano.gpuarray at the end of its import."""

    def find_spec(self, name, path=None, target=None):
        if name != "theano.gpuarray":
            return None
        from importlib.util import find_spec

        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module
            spec.loader.exec_module = lambda module: _run_and_check(run, module)
        return spec


def _run_and_check(run, module):
    import logging

    errors = []

    def keep(record):
        if record.levelname == "ERROR":
            errors.append((sys.exc_info()[1] or record.getMessage(), record))
        return record.levelname != "ERROR"

    logger = logging.getLogger("theano.gpuarray")
    logger.addFilter(keep)
    try:
        run(module)
    finally:
        logger.removeFilter(keep)
    from theano import config

    if config.device.startswith(("cuda", "opencl")) and not module.pygpu_activated:
        cause = str(errors[0][0]) if errors else "logging is disabled, so the reason is not known"
        raise RuntimeError(
            "Theano cannot compute on the device of this environment: %s\\n"
            "  to see why: verify the environment; its line `device` says what to do\\n"
            "  to compute on the processor instead: THEANO_FLAGS=device=cpu" % cause
        )
    # Of init_gpu_device, or of one of several contexts: the program goes on, as Theano has it.
    for _, record in errors:
        logger.handle(record)


# A program that has the device may start others, such as its workers: Theano computes on the
# processor there, and says so.
if os.environ.get("THEANO_GPU_IS_ALREADY_ACTIVE") != "Yes":
    sys.meta_path.insert(0, _Watch())
'''
