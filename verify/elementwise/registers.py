"""Whether compiled code leaves the vector registers so that what comes after it runs at full speed.

Code for AVX that returns with numbers in the upper halves of these registers makes every later SSE
instruction keep them, and wait for what wrote them: on AMD's Zen 5 MKL's small matrix products then
take twice their time. A compiler ends such code with VZEROUPPER; it does not under some options,
and GCC 10 forgets it in some functions that have a target of their own, where -fipa-ra is on.
"""

from __future__ import absolute_import, division, print_function

import os
import re

from verify.core import native, progress
from verify.core.report import failed, passed, skipped

NAME = "vector registers"
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "registers.c")
UNTOLD = "this processor does not tell whether their upper halves are in use"


def check(context, calls):
    """Check that operations leave the upper halves as they found them.

    calls: (name, function without arguments) of each operation.
    """
    progress.note("looking at the vector registers")
    try:
        probe = native.load(context.framework.flag("cxx"), SOURCE, context.folder)
    except native.NoCompilerError as error:
        return skipped(NAME, str(error))
    if probe.upper_halves_in_use() < 0:
        return skipped(NAME, UNTOLD)
    left, ran = [], 0
    for name, call in calls:
        call()
        probe.free_upper_halves()
        if probe.upper_halves_in_use():
            return skipped(NAME, UNTOLD)
        call()
        if probe.upper_halves_in_use():
            left.append(name)
        ran += 1
    if not left:
        return passed(NAME, "free again after each of %d operations" % ran)
    return failed(
        NAME,
        "still in use after %s: SSE instructions that come then, of other libraries too, are "
        "slower" % ", ".join(left),
        _fix(context),
    )


def _fix(context):
    flags = str(context.framework.flag("gcc.cxxflags") or "")
    asked = re.findall(r"-mno-vzeroupper|-fno-expensive-optimizations|-O[01s]\b", flags)
    if asked:
        return "take %s out of gcc.cxxflags, which are %r" % (" and ".join(asked), flags)
    return "add -fno-ipa-ra to gcc.cxxflags"
