"""What sets a framework's flags: its flags variable, and its configuration files."""

from __future__ import absolute_import, division, print_function

import io
import os
import re
import shlex

from verify.core.text import native, text

HEADER = re.compile(r"\[([^\]]+)\]")


def config_lines(section, option, value):
    """Return a setting as the lines of a configuration file."""
    return "[%s]\n%s = %s" % (section, option, value)


def config_file(context):
    """Return the configuration file that wins, as a person writes its name."""
    paths = os.environ.get(context.framework.rc_variable)
    return paths.split(os.pathsep)[-1] if paths else context.framework.rc_file


def sections_of(path):
    """Return the names of the sections of a configuration file; none if it cannot be read."""
    return [header.group(1) for header in map(HEADER.match, _lines(path)) if header]


def section_of(flag):
    """Return (section, option) of a flag in a configuration file."""
    return tuple(flag.split(".", 1)) if "." in flag else ("global", flag)


def sources_of(context, flag, own=False):
    """Yield (source, value) of what a person has set a flag by, the one that wins first.

    The flags variable comes after the configuration files, and these in their order.
    own: the file of the environment counts too, which its builder has written.
    """
    value = flags_of(context.user_flags).get(flag)
    if value is not None:
        yield context.framework.flags_variable, text(value)
    paths = os.environ.get(context.framework.rc_variable, context.framework.rc_file)
    section, option = section_of(flag)
    for name in reversed(paths.split(os.pathsep)):
        path = os.path.expanduser(native(name))
        value = options_of(path).get((section, option.lower()))
        if value is not None and (own or not _is_own(path)):
            yield text(name), value


def value_set(name, flag):
    """Return what a person has set a flag of a framework to, or None. It need not be loaded.

    name: that of the framework's module.
    """
    value = flags_of(os.environ.get(name.upper() + "_FLAGS", "")).get(flag)
    section, option = section_of(flag)
    paths = os.environ.get(name.upper() + "RC", "~/.%src" % name).split(os.pathsep)
    for path in reversed(paths):
        if value is None:
            value = options_of(os.path.expanduser(native(path))).get((section, option))
    return value


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
    for word in _words(splitter):
        key, equals, value = word.strip().partition("=")
        if equals:
            flags[key.strip().replace("__", ".")] = value
    return flags


def _words(splitter):
    try:
        for word in splitter:
            yield word
    except ValueError:
        return


def options_of(path):
    """Return {(section, option in lower case): raw value} of a configuration file.

    Empty if the file cannot be read.
    """
    options, section = {}, None
    for line in _lines(path):
        header = HEADER.match(line)
        option = re.match(r"([^\s#;=:][^=:]*?)\s*[=:]\s*(.*)$", line)
        if header:
            section = header.group(1)
        elif option and section:
            options[section, option.group(1).strip().lower()] = option.group(2).strip()
    return options


def _lines(path):
    try:
        with io.open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except (OSError, IOError):
        return []
