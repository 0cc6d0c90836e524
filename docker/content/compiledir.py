"""Give each process of an image a writable compile folder with the image's compiled modules.

The image's own compile folder is not writable, except for root, or the root is read-only. So it is
copied, once for each user, to /tmp or to THEANO_STACKS_COMPILEDIR. Other files that the environment
caches, such as a device's kernels, go there too.
Runs at every start of Python, from 2.7 on, so it imports and reads little.
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
# NAME=FOLDER: the variables that name a folder, and its name in the compile folder.
FOLDERS = "{folders}".splitlines()


def choose_march():
    """Return the -march to compile for: the image's, or native if the CPU does not support it."""
    chosen = os.environ.get("THEANO_STACKS_MARCH")
    if chosen:
        return chosen
    try:
        with open("/proc/cpuinfo") as file:
            # Enough for the first CPU's flags: with many CPUs this file is slow to read.
            words = file.read(8192).partition("\nflags")[2].partition("\n")[0].split()
    except (IOError, OSError):
        return "native"
    return MARCH if NEEDED.issubset(words) else "native"


def folder_name(march):
    """Return the name of the folder for a -march; native is another one on another processor."""
    name = KEY + "-" + march
    if march != "native":
        return name
    try:
        with open("/proc/cpuinfo") as file:
            lines = file.read(8192).partition("\n\n")[0].splitlines()
    except (IOError, OSError):
        return name
    import zlib

    kinds = ("vendor_id", "cpu family", "model", "flags")
    kind = "\n".join(line for line in lines if line.partition("\t")[0].strip() in kinds)
    return "%s-%08x" % (name, zlib.crc32(kind.encode("utf-8")) & 0xFFFFFFFF)


def use(place, march):
    """Make the framework compile in the folder `place`, which is made if it is missing."""
    settings = os.path.join(place, "theanorc")
    if not os.path.isfile(settings):
        make(place, march)
    if os.statvfs(place).f_flag & ST_NOEXEC:
        raise OSError(13, "it does not allow execution (noexec)")
    for name, _, folder in (entry.partition("=") for entry in FOLDERS):
        os.environ.setdefault(name, os.path.join(place, folder))
    # A program that has started this one may have named the same.
    names = [n for n in os.environ[VARIABLE].split(os.pathsep) if n != settings]
    os.environ[VARIABLE] = os.pathsep.join([names[0], settings] + names[1:])


def make(place, march):
    """Make the folder `place` atomically: others see all of it or nothing."""
    import binascii
    import shutil

    # Not the process's number: it is 1 in each of the containers that share a volume.
    part = "%s.%x.part" % (place, int(binascii.hexlify(os.urandom(8)), 16))
    try:
        folder = os.path.join(part, "theano-stacks")
        os.makedirs(folder, 0o700)
        if march == MARCH:
            copy(WARM, folder)
        text = "[global]\nbase_compiledir = %s\n" % os.path.join(place, "theano-stacks")
        text += "compiledir_format = {format}\n[gcc]\ncxxflags = -march=%s\n" % march
        with open(os.path.join(part, "theanorc"), "w") as file:
            file.write(text.replace("%", "%%"))
        os.rename(part, place)
        remove_parts(place)
    except (IOError, OSError):
        # Another process was faster, and may have removed this part.
        if not os.path.isfile(os.path.join(place, "theanorc")):
            raise
    finally:
        shutil.rmtree(part, True)


def remove_parts(place):
    """Remove what others have begun to make of the folder `place`: killed, or now superfluous."""
    import shutil

    parent, name = os.path.split(place)
    for other in os.listdir(parent):
        if other.startswith(name + ".") and other.endswith(".part"):
            shutil.rmtree(os.path.join(parent, other), True)


def copy(source, target):
    """Copy a folder's files without their times: the framework deletes old modules."""
    import shutil

    for folder, _, names in os.walk(source):
        made = os.path.join(target, os.path.relpath(folder, source))
        if not os.path.isdir(made):
            os.mkdir(made)
        for name in names:
            shutil.copyfile(os.path.join(folder, name), os.path.join(made, name))


def own_folder(path):
    """Make a folder for this user alone, or check that it is one: its files are executed."""
    try:
        os.mkdir(path, 0o700)
    except OSError:
        if not os.path.isdir(path):
            raise
    status = os.lstat(path)
    if status.st_uid != os.getuid() or status.st_mode & 0o170022 != 0o040000:
        raise OSError(1, "it belongs to another user, or others may write to it")


def shared_folder(path):
    """Make a folder in which each user may make one, where it is missing."""
    if not os.path.isdir(path):
        try:
            os.makedirs(path)
            os.chmod(path, 0o1777)
        except OSError:
            # Another process was faster.
            if not os.path.isdir(path):
                raise


def main():
    """Use the first folder that works; if none does, print what is wrong with each."""
    march = choose_march()
    chosen = os.environ.get("THEANO_STACKS_COMPILEDIR")
    parents = (os.environ.get("TMPDIR", "/tmp"), os.path.expanduser("~"))
    refused = []
    for parent in ((chosen,) if chosen else ()) + parents:
        path = os.path.join(parent, "theano-%d" % os.getuid())
        try:
            if parent == chosen:
                shared_folder(parent)
            own_folder(path)
            use(os.path.join(path, folder_name(march)), march)
        except (IOError, OSError) as error:
            refused.append("%s: %s" % (path, error.strerror or error))
            continue
        if chosen and parent != chosen:
            sys.stderr.write(
                "theano-stacks: what is compiled goes to %s: %s\n" % (path, refused[0])
            )
        return
    sys.stderr.write(
        "theano-stacks: no folder to compile in: Theano will not work\n"
        "  found:    %s\n"
        "  fix:      docker run --tmpfs /tmp:rw,exec ... gives one; or mount a folder that this "
        "user may write, and set THEANO_STACKS_COMPILEDIR to it\n" % "; ".join(refused)
    )


def quieten():
    """Drop a warning of Theano 0.8.2 at each start: that flags contain -march."""
    import logging

    class Filter(logging.Filter):
        def filter(self, record):
            return "specify an `-march=X` flags" not in str(record.msg)

    logging.getLogger("theano.gof.cmodule").addFilter(Filter())


main()
if sys.version_info < (3,):
    quieten()
