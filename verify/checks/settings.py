"""Are the environment's settings in force, and if not, what overrides them?"""

from __future__ import absolute_import, division, print_function

import io
import os
import re
import shlex

from verify.core.fixes import compiler_fix, config_lines
from verify.core.report import failed, passed
from verify.core.text import text

NAME = "settings"
# The suite sets these itself, as it compiles into a folder of its own.
OWN = ("base_compiledir", "compiledir")
SLOW = {
    "mode": ("FAST_COMPILE", "DebugMode", "DEBUG_MODE", "NanGuardMode"),
    "linker": ("py", "vm", "vm_nogc"),
    "optimizer": ("None", "fast_compile", "o0", "o1"),
}


def check(context):
    """Check the flags of the expectation; in a diagnosis, that none turns compiled code off."""
    if context.expectation:
        return _compare(context)
    faults, fixes = [], []
    for flag, slow in sorted(SLOW.items()):
        value = context.framework.flag(flag)
        if value is not None and str(value) in slow:
            faults.append("%s=%s turns off compiled code or optimisation" % (flag, value))
            fixes.append(source_and_fix(context, flag)[1])
    if not context.framework.flag("cxx"):
        faults.append("cxx is empty: nothing can be compiled")
        fixes.append(compiler_fix(context))
    if faults:
        return failed(NAME, "; ".join(faults), "; ".join(fixes))
    return passed(NAME, "no setting turns compiled code off")


def _compare(context):
    faults, fixes = [], []
    flags = context.expectation["flags"]
    for flag in sorted(flags):
        if flag in OWN or (flag == "device" and context.requested_device):
            source, value = source_of(context, flag)
            value = value if source else flags[flag]
        else:
            value = context.framework.flag(flag)
        if flag == "device" and text(value) == context.requested_device:
            continue
        if _normal(value) != _normal(flags[flag]):
            source, fix = source_and_fix(context, flag, flags[flag])
            faults.append(
                "%s is %s, not %s (%s)" % (flag, text(value) or "empty", flags[flag], source)
            )
            fixes.append(fix)
    if faults:
        return failed(NAME, "; ".join(faults), "; ".join(fixes))
    return passed(NAME, "%d in force" % len(flags))


def source_and_fix(context, flag, expected=None):
    """Return (what sets a flag, how to remove that, or to set the expected value there)."""
    source, value = source_of(context, flag)
    if source is None:
        return ("nothing sets it", "activate the environment, which has its own configuration file")
    if source == context.framework.flags_variable:
        return source, "remove %s=%s from %s" % (context.framework.spelled(flag), value, source)
    if expected is None:
        lines = config_lines(*section_of(flag), value=value)
        return source, "remove from %s:\n%s" % (source, lines)
    return source, "in %s, put %s = %s" % (source, section_of(flag)[1], expected)


def section_of(flag):
    """Return (section, option) of a flag in a configuration file."""
    return tuple(flag.split(".", 1)) if "." in flag else ("global", flag)


def source_of(context, flag):
    """Return (source, value) of the last source that sets a flag, or (None, None).

    The flags variable comes after the configuration files, and these in their order.
    """
    value = flags_of(context.user_flags).get(flag)
    if value is not None:
        return context.framework.flags_variable, text(value)
    paths = os.environ.get(context.framework.rc_variable, context.framework.rc_file)
    for path in reversed(paths.split(os.pathsep)):
        section, option = section_of(flag)
        value = options_of(os.path.expanduser(path)).get((section, option.lower()))
        if value is not None:
            return text(path), value
    return None, None


def flags_of(variable):
    """Return {dotted flag: value} of a flags variable's text, split as the frameworks do."""
    splitter = shlex.shlex(variable, posix=True)
    splitter.whitespace = ","
    splitter.whitespace_split = True
    flags = {}
    for word in splitter:
        key, equals, value = word.strip().partition("=")
        if equals:
            flags[key.strip().replace("__", ".")] = value
    return flags


def options_of(path):
    """Return {(section, option in lower case): raw value} of a configuration file.

    Empty if the file cannot be read.
    """
    options, section = {}, None
    try:
        with io.open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except (OSError, IOError):
        return {}
    for line in lines:
        header = re.match(r"\[([^\]]+)\]", line)
        option = re.match(r"([^\s#;=:][^=:]*?)\s*[=:]\s*(.*)$", line)
        if header:
            section = header.group(1)
        elif option and section:
            options[section, option.group(1).strip().lower()] = option.group(2).strip()
    return options


def in_force(context):
    """Return the settings in force, for the report."""
    flag = context.framework.flag
    serving = context.serving
    return {
        "floatX": text(flag("floatX") or ""),
        "ldflags": text(flag("blas.ldflags") or ""),
        "cxx": text(flag("cxx") or ""),
        "mode": text(flag("mode") or ""),
        "linker": text(flag("linker") or ""),
        "threads": serving.threads if serving else None,
    }


def _normal(value):
    value = re.sub(r"\s+", " ", text(value)).strip()
    return {"true": "True", "false": "False"}.get(value.lower(), value)
