"""Gives each process of an image a folder that it may compile in, which begins warm.

The image's own compile folder may not be written: by another user than root, or because the root
is read-only. So it is copied, once for each user, to /tmp or to THEANO_STACKS_COMPILEDIR. What else
the environment keeps, such as the kernels of a device, goes there too.
Runs at every start of Python, from 2.7 on, so it imports little and looks at little.
"""

import os
import sys

KEY = "{key}"
VARIABLE = "{rc_variable}"
MARCH = "{march}"
NEEDED = frozenset("{cpu_flags}".split())
ST_NOEXEC = 8
PREFIX = getattr(sys, "base_prefix", sys.prefix)
WARM = os.path.join(PREFIX, "var", "compiledir")
# NAME=FOLDER: variables that name a folder to keep things in, and what it is called.
FOLDERS = "{folders}".split()


def choose_march():
    """Return what to compile for: the image's own choice, or native where the CPU lacks that."""
    asked = os.environ.get("THEANO_STACKS_MARCH")
    if asked:
        return asked
    try:
        with open("/proc/cpuinfo") as file:
            # The first CPU's flags are in it: many CPUs make this file long, and slow to read.
            words = file.read(8192).partition("\nflags")[2].partition("\n")[0].split()
    except (IOError, OSError):
        return "native"
    return MARCH if NEEDED.issubset(words) else "native"


def use(place, march):
    """Make the framework compile below a place that is made where it is not there."""
    settings = os.path.join(place, "theanorc")
    if not os.path.isfile(settings):
        make(place, march)
    if os.statvfs(place).f_flag & ST_NOEXEC:
        raise OSError(13, "nothing may be executed there (noexec)")
    for name, _, folder in (entry.partition("=") for entry in FOLDERS):
        os.environ.setdefault(name, os.path.join(place, folder))
    names = os.environ[VARIABLE].split(os.pathsep)
    os.environ[VARIABLE] = os.pathsep.join([names[0], settings] + names[1:])


def make(place, march):
    """Fill a folder beside the place, then rename it: others see all of it or nothing."""
    import shutil

    part = "%s.%d.part" % (place, os.getpid())
    folder = os.path.join(part, "theano-stacks")
    os.makedirs(folder, 0o700)
    try:
        if march == MARCH:
            copy(WARM, folder)
        text = "[global]\nbase_compiledir = %s\n" % os.path.join(place, "theano-stacks")
        if march != MARCH:
            text += "[gcc]\ncxxflags = -march=%s\n" % march
        with open(os.path.join(part, "theanorc"), "w") as file:
            file.write(text.replace("%", "%%"))
        try:
            os.rename(part, place)
        except OSError:
            # Another process was faster.
            if not os.path.isfile(os.path.join(place, "theanorc")):
                raise
    finally:
        shutil.rmtree(part, True)


def copy(source, target):
    """Copy a folder's files without their times: the framework throws away what is old."""
    import shutil

    for folder, _, names in os.walk(source):
        made = os.path.join(target, os.path.relpath(folder, source))
        if not os.path.isdir(made):
            os.mkdir(made)
        for name in names:
            shutil.copyfile(os.path.join(folder, name), os.path.join(made, name))


def own_folder(path):
    """Make a folder for this user alone, or check that it is one: what is in it gets executed."""
    try:
        os.mkdir(path, 0o700)
    except OSError:
        found = os.lstat(path)
        if found.st_uid != os.getuid() or found.st_mode & 0o170022 != 0o040000:
            raise OSError(1, "it belongs to somebody else, or others may write to it")


def main():
    """Take the first folder that serves; say what is wrong with each where none does."""
    march = choose_march()
    asked = os.environ.get("THEANO_STACKS_COMPILEDIR")
    places = (os.environ.get("TMPDIR", "/tmp"), os.path.expanduser("~"))
    refused = []
    for path in [asked] if asked else [os.path.join(p, "theano-%d" % os.getuid()) for p in places]:
        try:
            if not asked:
                own_folder(path)
            return use(os.path.join(path, KEY + "-" + march), march)
        except (IOError, OSError) as error:
            refused.append("%s: %s" % (path, error.strerror or error))
    sys.stderr.write(
        "theano-stacks: there is no folder to compile in: Theano will not work\n"
        "  found:    %s\n"
        "  fix:      docker run --tmpfs /tmp:rw,exec ... gives one; or mount a folder that this "
        "user may write, and set THEANO_STACKS_COMPILEDIR to it\n" % "; ".join(refused)
    )


def quieten():
    """Drop Theano 0.8.2's warning, at each start, that an -march is chosen for it."""
    import logging

    class Filter(logging.Filter):
        def filter(self, record):
            return "specify an `-march=X` flags" not in str(record.msg)

    logging.getLogger("theano.gof.cmodule").addFilter(Filter())


main()
if sys.version_info < (3,):
    quieten()
