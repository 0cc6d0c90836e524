"""Check that compiled code clears the upper halves of the vector registers.

If AVX code returns with numbers in them, every later SSE instruction has to preserve them, and
waits for the instruction that wrote them: on AMD's Zen 5 MKL's small matrix products take twice
their time. Compilers end AVX code with VZEROUPPER, except under some options; GCC 10 with -fipa-ra
omits it in some functions with the attribute `target`.
"""

from __future__ import absolute_import, division, print_function

import re

from verify.core import native, progress
from verify.core.report import failed, passed, skipped

NAME = "vector registers"
UNKNOWN = "this processor does not report whether their upper halves are in use"


def check(context, calls):
    """Check that the upper halves are free after each call.

    calls: (name, function without arguments) of each operation, as calls.calls yields them.
    """
    progress.note("checking the vector registers")
    try:
        probe = native.load(
            context.framework.flag("cxx"), "verify.elementwise", "registers.c", context.folder
        )
    except native.NoCompilerError as error:
        return skipped(NAME, str(error))
    if probe.upper_halves_in_use() < 0:
        return skipped(NAME, UNKNOWN)
    unclean, count = [], 0
    for name, call in calls:
        call()
        probe.free_upper_halves()
        if probe.upper_halves_in_use():
            return skipped(NAME, UNKNOWN)
        call()
        if probe.upper_halves_in_use():
            unclean.append(name)
        count += 1
    if not unclean:
        return passed(NAME, "free after each of %d operations" % count)
    return failed(
        NAME,
        "still in use after %s: later SSE instructions, also those of other libraries, are slower"
        % ", ".join(unclean),
        _fix(context),
    )


def _fix(context):
    flags = str(context.framework.flag("gcc.cxxflags") or "")
    culprits = re.findall(r"-mno-vzeroupper|-fno-expensive-optimizations|-O[01s]\b", flags)
    if culprits:
        return "remove %s from gcc.cxxflags, which are %r" % (" and ".join(culprits), flags)
    return "add -fno-ipa-ra to gcc.cxxflags"
