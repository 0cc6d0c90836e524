"""Are the environment's settings in force, and if not, what overrides them?"""

from __future__ import absolute_import, division, print_function

import re

from verify.core.config_files import source_of, sources_of
from verify.core.fixes import compiler_fix, own_fix, undo_fix, without_flags
from verify.core.report import failed, passed
from verify.core.text import text

NAME = "settings"
# Where modules are compiled is the user's choice, and the suite's own folder is another one.
OWN = ("base_compiledir", "compiledir")
SLOW = {
    "mode": ("FAST_COMPILE", "DebugMode", "DEBUG_MODE", "NanGuardMode"),
    "linker": ("py", "vm", "vm_nogc"),
    "optimizer": ("None", "merge", "fast_compile", "o0", "o1"),
    "cmodule.remove_gxx_opt": ("True",),
}
UNOPTIMISED = re.compile("-O[01g]?$")


def check(context):
    """Check the flags of the expectation, and that none turns compiled code off."""
    expected = context.expectation["flags"] if context.expectation else {}
    flags = {flag: value for flag, value in expected.items() if flag not in OWN}
    faults, fixes = _differences(context, flags)
    for flag, slow in sorted(SLOW.items()):
        value, fix = context.framework.flag(flag), undo_fix(context, flag)
        # Without a compiler the framework itself takes another linker.
        if flag not in flags and value is not None and str(value) in slow and fix:
            faults.append("%s=%s turns off compiled code or optimisation" % (flag, value))
            fixes.append(fix)
    level = _optimisation(context)
    if level and "gcc.cxxflags" not in flags:
        faults.append("gcc.cxxflags has %s, by which g++ leaves loops as they are" % level)
        fixes.append(without_flags(context, UNOPTIMISED.pattern))
    if "cxx" not in flags and not context.framework.flag("cxx"):
        faults.append("cxx is empty: nothing can be compiled")
        fixes.append(compiler_fix(context))
    if faults:
        return failed(NAME, "; ".join(faults), "\n".join(fixes))
    if flags:
        return passed(NAME, "%d in force" % len(flags))
    return passed(NAME, "no setting turns compiled code off")


def _optimisation(context):
    """Return the option of gcc.cxxflags that turns off the optimisation of loops, or None."""
    words = str(context.framework.flag("gcc.cxxflags") or "").split()
    # The last one counts, and the framework's own -O3 comes before.
    level = ([word for word in words if word.startswith("-O")] or [""])[-1]
    return level if UNOPTIMISED.match(level) else None


def _differences(context, flags):
    """Return what differs from the flags of the expectation, and the fixes."""
    faults, fixes = [], []
    for flag in sorted(flags):
        if flag == "device" and context.requested_device:
            source, value = source_of(context, flag)
            value = value if source else flags[flag]
        else:
            value = context.framework.flag(flag)
        if flag == "device" and text(value) == context.requested_device:
            continue
        if value is None and next(sources_of(context, flag, own=True), None):
            framework = "%s %s" % (context.framework.name, context.framework.version)
            faults.append("%s has no flag %s" % (framework, flag))
            fixes.append(
                "correct %s below `flags:` in the variant's file, then lock and build it" % flag
            )
        elif _normal(value) != _normal(flags[flag]):
            source = source_of(context, flag)[0] or "nothing sets it"
            faults.append(
                "%s is %s, not %s (%s)" % (flag, text(value) or "empty", flags[flag], source)
            )
            fix = own_fix(context, flag)
            fixes += [fix] if fix not in fixes else []
    return faults, fixes


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
