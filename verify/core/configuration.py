"""What sets a framework's flags: variables and configuration files; where it compiles.

Call the functions that change where it compiles, or what is kept of that, before its import.
"""

from __future__ import absolute_import, division, print_function

import hashlib
import os
import re
import shlex
import shutil
import stat
import sys

from verify.core.machine import cpu_field, read_text
from verify.core.portable import native, text

if sys.version_info[0] > 2:
    from importlib.util import cache_from_source, find_spec

MODULES = ("pytensor", "aesara", "theano")
NUMBA = "numba"
HEADER = re.compile(r"\[([^\]]+)\]")
MODULES_VARIABLE = "THEANO_STACKS_MODULES"
# The last file in the folder of a compiled module. An extension has a .so of the folder's name.
KEY = "key.pkl"
DIGEST = "digest"  # of its files, in the copy of such a folder


def config_lines(section, option, value):
    """Return a setting as the lines of a configuration file."""
    return "[%s]\n%s = %s" % (section, option, value)


def rc_files(name):
    """Return a framework's configuration files, as a person writes their names; the last wins."""
    return os.environ.get(name.upper() + "RC", "~/.%src" % name).split(os.pathsep)


def config_file(name):
    """Return a framework's configuration file that wins, as a person writes its name."""
    return rc_files(name)[-1] or "~/.%src" % name


def section_of(flag):
    """Return (section, option) of a flag in a configuration file."""
    return tuple(flag.split(".", 1)) if "." in flag else ("global", flag)


def sources_of(context, flag, own=False):
    """Yield (source, value) of what a person has set a flag by, the one that wins first.

    The flags variable comes after the configuration files, and these in their order.
    own: the file of the environment counts too, which its builder has written.
    """
    return sources(context.framework.name, context.user_flags, flag, own)


def sources(name, user_flags, flag, own=True):
    """Yield (source, value) as sources_of does, for the framework of a name; it may be missing."""
    value = flags_of(user_flags).get(flag)
    if value is not None:
        yield name.upper() + "_FLAGS", text(value)
    section, option = section_of(flag)
    for file in reversed(rc_files(name)):
        path = os.path.expanduser(native(file))
        value = options_of(path).get((section, option.lower()))
        if value is not None and (own or not _is_own(path)):
            yield text(file), value


def value_set(name, flag):
    """Return what a person has set a flag of a framework to, or None. It need not be loaded.

    name: that of the framework's module.
    """
    flags = os.environ.get(name.upper() + "_FLAGS", "")
    return next((value for _, value in sources(name, flags, flag)), None)


def _is_own(path):
    # In `etc`: a checkout of the project beside the user's own file has the same name.
    folder = os.path.dirname(os.path.abspath(path))
    own = os.path.join(folder, "theano-stacks")
    return os.path.basename(folder) == "etc" and os.path.isdir(own)


def source_of(context, flag):
    """Return (source, value) of what a person has set a flag by, or (None, None)."""
    return next(sources_of(context, flag), (None, None))


def flags_of(variable):
    """Return {dotted flag: value} of a flags variable's text, split as the frameworks do.

    Up to a quotation without an end: there the import of the framework ends with an error.
    """
    splitter = shlex.shlex(variable, posix=True)
    splitter.whitespace = ","
    splitter.whitespace_split = True
    flags = {}
    try:
        for word in splitter:
            key, equals, value = word.strip().partition("=")
            if equals:
                flags[key.strip().replace("__", ".")] = value
    except ValueError:
        pass
    return flags


def options_of(path):
    """Return {(section, option in lower case): raw value} of a configuration file.

    Each section has an option "", too. Empty if the file cannot be read.
    """
    options, section = {}, None
    for line in read_text(path).splitlines():
        header = HEADER.match(line)
        option = re.match(r"([^\s#;=:][^=:]*?)\s*[=:]\s*(.*)$", line)
        if header:
            section = header.group(1)
            options[section, ""] = ""
        elif option and section:
            options[section, option.group(1).strip().lower()] = option.group(2).strip()
    return options


def compile_flags(name, folder):
    """Return the flags by which a framework compiles into `folder`, whatever a person has set."""
    flags = "base_compiledir=" + folder
    own = ",compiledir=" + os.path.join(folder, "compiledir")
    return flags if value_set(name, "compiledir") is None else flags + own


def use_compile_folder(folder, names=MODULES):
    """Make every framework compile into `folder` only. Call it before the import."""
    for name in names:
        add_flag(name, compile_flags(name, folder))


def verified_modules(expectation):
    """Return the folder of what verifications of the same packages have compiled here, or None.

    The builder names its place, in a cache that users may share. What is compiled is executed: so
    each user has a folder, which nobody else may write. What one processor runs, another may not.
    """
    place = expectation.get("verified")
    if not place:
        return None
    features = hashlib.sha256((cpu_field("flags") or "").encode("ascii", "replace")).hexdigest()
    folder = os.path.join(place, "%s-%d" % (features[:16], os.geteuid()))
    try:
        status = os.lstat(folder)
    except EnvironmentError:
        return folder
    is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
    return folder if is_own and not stat.S_IMODE(status.st_mode) & 0o022 else None


def make_private(folder):
    """Make a folder that only its user may write; without permission it stays missing."""
    try:
        os.makedirs(folder, 0o700)
    except EnvironmentError:
        return


def use_kept(link, kept, new):
    """Let `link`, whose folder is made, lead to what was kept, else to a new folder for keep()."""
    if not os.path.isdir(kept):
        kept = new
        os.mkdir(kept)
    os.makedirs(os.path.dirname(link))
    os.symlink(kept, link)


def keep(new, kept):
    """Keep the new folder of the first verification, which has passed, if something is in it."""
    part = os.path.join(os.path.dirname(kept), ".%d" % os.getpid())
    if os.path.isdir(new) and os.listdir(new):
        try:
            shutil.move(new, part)
            os.rename(part, kept)
        except EnvironmentError:
            shutil.rmtree(part, ignore_errors=True)


def take(source, target, functions=True):
    """Copy what is compiled in a folder into another one that lacks it.

    functions: also their modules, not only what the framework compiles of its own: one that misses
    a module looks through its folder again. What cannot be copied is compiled again, and so is
    what has changed since it was copied: the process would die of a library that is cut off.
    """
    part = os.path.join(target, ".%d" % os.getpid())
    try:
        for path, folders, names in os.walk(source):
            folders[:] = [name for name in folders if not name.startswith((".", "theano_stacks"))]
            other = os.path.join(target, os.path.relpath(path, source))
            is_extension = os.path.basename(path) + ".so" in names
            is_wanted = functions if KEY in names else is_extension
            if not is_wanted or os.path.exists(other):
                continue
            if DIGEST in names and _read(os.path.join(path, DIGEST)) != _digest(path):
                shutil.rmtree(path)
                continue
            shutil.copytree(path, part, ignore=shutil.ignore_patterns("mod.cpp", "__pycache__"))
            with open(os.path.join(part, DIGEST), "wb") as file:
                file.write(_digest(part))
            for name in os.listdir(part):
                # Frameworks remove what was not used for a month.
                os.utime(os.path.join(part, name), None)
            if not os.path.isdir(os.path.dirname(other)):
                os.makedirs(os.path.dirname(other))
            os.rename(part, other)
    except EnvironmentError:
        return
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _digest(folder):
    digest = hashlib.sha256()
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name != DIGEST and os.path.isfile(path):
            digest.update(name.encode("utf-8") + _read(path))
    return digest.hexdigest().encode("ascii")


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def keep_bytecode(folder, kept=None):
    """Make this process and its children keep bytecode in `folder`; call it before the import.

    Then one of them compiles the framework's Python files. kept: as use_kept takes it; without it
    nothing is done where the environment has bytecode.
    """
    if sys.version_info < (3, 8):
        return
    for name in () if kept else MODULES:
        spec = find_spec(name)
        if spec and spec.origin and os.path.exists(cache_from_source(spec.origin)):
            return
    if kept:
        use_kept(folder + os.path.abspath(sys.base_prefix), kept, folder + "-new")
    sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = folder
    sys.dont_write_bytecode = False


def shared_modules():
    """Return the folder of compiled modules that environments of theano-stacks share, or None."""
    folder = os.environ.get(MODULES_VARIABLE, "0")
    return folder if folder not in ("", "0") else None


def share_modules(folder=None):
    """Make an environment of theano-stacks take compiled modules from a shared folder.

    folder: None to compile every module. It holds for the processes that this one starts, too.
    """
    os.environ[MODULES_VARIABLE] = folder or "0"
    sharing = sys.modules.get("theano_stacks_sharing")
    if sharing is not None:
        # It opens the folder at the next module.
        sharing.SHARED.ready = False


def add_flag(name, flag):
    """Append a flag to the flags variable of a framework."""
    variable = name.upper() + "_FLAGS"
    flags = os.environ.get(variable, "")
    os.environ[variable] = flags + "," + flag if flags else flag
