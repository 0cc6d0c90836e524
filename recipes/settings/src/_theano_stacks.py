"""Names this environment's settings to @module@; the user's own may add to them."""

import os
import sys

PREFIX = getattr(sys, "base_prefix", sys.prefix)
SETTINGS = os.path.join(PREFIX, "etc", "theanorc")
OTHERS = os.environ.get("@rc_variable@", os.path.join("~", ".@module@rc"))


def _of_environment(name):
    # In `etc`: a checkout of the project beside the user's own file has the same name.
    folder = os.path.dirname(name)
    own = os.path.join(folder, "theano-stacks")
    return os.path.basename(folder) == "etc" and os.path.isdir(own)


# A program of another environment may have started this one: its settings end here.
OWN = [name for name in OTHERS.split(os.pathsep) if not _of_environment(name)]
os.environ["@rc_variable@"] = os.pathsep.join([SETTINGS] + OWN)
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
CONSTRAINTS = os.path.join(PREFIX, "@constraints@")
if GIVEN or sys.prefix != PREFIX:
    HELD = [name for name in GIVEN if not name.endswith("/" + "@constraints@")]
    # An environment that another conda client made has none.
    if os.path.exists(CONSTRAINTS):
        HELD.append(_url(CONSTRAINTS))
    os.environ["PIP_CONSTRAINT"] = " ".join(HELD)
# The number of threads of another environment ends here.
NAME, _, NUMBER = os.environ.pop("@threads_variable@", "").partition("=")
if NAME and os.environ.get(NAME) == NUMBER:
    del os.environ[NAME]
WRITABLE = os.access(os.path.join(PREFIX, "var"), os.W_OK)
for name, value in "@environment@":
    # A folder to keep things in is of no use to a person who may not write to it.
    if WRITABLE or not value.startswith("{prefix}/var/"):
        os.environ.setdefault(name, value.replace("{prefix}", PREFIX))
# Where environments share compiled modules: the builder writes it, whatever the path has in it.
try:
    with open(os.path.join(PREFIX, "@modules@"), "rb") as file:
        MODULES = file.read()
except (IOError, OSError):
    MODULES = b""
if not isinstance(MODULES, str):
    MODULES = os.fsdecode(MODULES)
if MODULES and os.access(os.path.dirname(MODULES), os.W_OK):
    os.environ.setdefault("THEANO_STACKS_MODULES", MODULES)


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
    fields = {}
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


PROCESSORS = "@processors@"
if PROCESSORS:
    VENDOR, FAMILY, FLAGS = _processor()
for flags, known, variables in PROCESSORS:
    if FLAGS.issuperset(flags) and FAMILY > dict(known).get(VENDOR, -1):
        for name, value in variables:
            os.environ.setdefault(name, value)
        break

THREADS = "@threads@"
if THREADS and not any(os.environ.get(name) for name in THREADS):
    AFFINE, QUOTA = _processors(), _quota()
    USABLE = min(AFFINE, QUOTA) if QUOTA else AFFINE
    # Libraries count the processors by themselves, but not a quota.
    if USABLE < AFFINE or "@one_thread@":
        os.environ[THREADS[0]] = str(USABLE)
        os.environ["@threads_variable@"] = THREADS[0] + "=" + str(USABLE)
