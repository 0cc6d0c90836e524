"""Are the environment's settings in force, and if not, who has undone them?"""

from __future__ import absolute_import, division, print_function

import io
import os
import re
import shlex

from verify.core.fixes import no_compiler_fix, rc_lines
from verify.core.report import failed, passed
from verify.core.text import text

NAME = "settings"
# The suite compiles into a folder of its own, so what is in force for these is its own doing.
OWN = ("base_compiledir", "compiledir")
SLOW = {
    "mode": ("FAST_COMPILE", "DebugMode", "DEBUG_MODE", "NanGuardMode"),
    "linker": ("py", "vm", "vm_nogc"),
    "optimizer": ("None", "fast_compile", "o0", "o1"),
}


def check(context):
    """Check the flags of the expectation; in a diagnosis, that none turns compiled code off."""
    if context.expectation:
        return _as_expected(context)
    wrong, fixes = [], []
    for flag, slow in sorted(SLOW.items()):
        value = context.framework.flag(flag)
        if value is not None and str(value) in slow:
            wrong.append("%s=%s gives up compiled code or optimisation" % (flag, value))
            fixes.append(undo(context, flag)[1])
    if not context.framework.flag("cxx"):
        wrong.append("cxx is empty: nothing can be compiled")
        fixes.append(no_compiler_fix(context))
    if wrong:
        return failed(NAME, "; ".join(wrong), "; ".join(fixes))
    return passed(NAME, "nothing turns compiled code off")


def _as_expected(context):
    wrong, fixes = [], []
    flags = context.expectation["flags"]
    for flag in sorted(flags):
        if flag in OWN or (flag == "device" and context.asked_device):
            source, value = given(context, flag)
            found = value if source else flags[flag]
        else:
            found = context.framework.flag(flag)
        if flag == "device" and text(found) == context.asked_device:
            continue
        if _text(found) != _text(flags[flag]):
            source, fix = undo(context, flag, flags[flag])
            wrong.append(
                "%s is %s, not %s (%s)" % (flag, text(found) or "empty", flags[flag], source)
            )
            fixes.append(fix)
    if wrong:
        return failed(NAME, "; ".join(wrong), "; ".join(fixes))
    return passed(NAME, "%d in force" % len(flags))


def undo(context, flag, wanted=None):
    """Return (which source has set a flag, how to take that out)."""
    source, value = given(context, flag)
    if source is None:
        return (
            "nothing sets it",
            "activate the environment, which brings its own configuration file",
        )
    lines = rc_lines(*section_of(flag), value=value)
    if source == context.framework.flags_variable:
        return source, "take %s=%s out of %s" % (context.framework.spelled(flag), value, source)
    if wanted is None:
        return source, "take out of %s:\n%s" % (source, lines)
    return source, "in %s, put %s = %s" % (source, section_of(flag)[1], wanted)


def section_of(flag):
    """Return (section, option) of a flag in a configuration file."""
    return tuple(flag.split(".", 1)) if "." in flag else ("global", flag)


def given(context, flag):
    """Return (source, value) of the last source that sets a flag, or (None, None)."""
    value = flags_of(context.given_flags).get(flag)
    if value is not None:
        return context.framework.flags_variable, text(value)
    listed = os.environ.get(context.framework.rc_variable, context.framework.rc_file)
    for path in reversed(listed.split(os.pathsep)):
        section, option = section_of(flag)
        value = options_of(os.path.expanduser(path)).get((section, option.lower()))
        if value is not None:
            return text(path), value
    return None, None


def flags_of(text):
    """Return {dotted flag: value} of a flags variable, as the frameworks split it."""
    splitter = shlex.shlex(text, posix=True)
    splitter.whitespace = ","
    splitter.whitespace_split = True
    found = {}
    for word in splitter:
        key, equals, value = word.strip().partition("=")
        if equals:
            found[key.strip().replace("__", ".")] = value
    return found


def options_of(path):
    """Return {(section, option in lower case): raw value} of a file; empty if there is none."""
    found, section = {}, None
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
            found[section, option.group(1).strip().lower()] = option.group(2).strip()
    return found


def in_force(context):
    """Return the settings that the report carries."""
    flag = context.framework.flag
    serving = context.serving
    return {
        "floatX": str(flag("floatX")),
        "ldflags": text(flag("blas.ldflags") or ""),
        "cxx": text(flag("cxx") or ""),
        "mode": str(flag("mode")),
        "linker": str(flag("linker")),
        "threads": serving.threads if serving else None,
    }


def _text(value):
    found = re.sub(r"\s+", " ", text(value)).strip()
    return {"true": "True", "false": "False"}.get(found.lower(), found)
