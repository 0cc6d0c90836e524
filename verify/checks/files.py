"""Are the environment's files the ones that the builder has installed?

This imports neither NumPy nor the framework, because their files may be damaged.
"""

from __future__ import absolute_import, division, print_function

import sys

from verify.core import manifest, repair, user_files
from verify.core.report import failed, passed, skipped

NAME = "files"


def check(context):
    """Check every file of the environment that runs the suite against its manifest."""
    if not context.expectation:
        return skipped(NAME, "this environment has no manifest of its files")
    return check_prefix(getattr(sys, "base_prefix", sys.prefix), context.expectation, context.full)


def check_prefix(prefix, expectation, full=False):
    """Check every file of an environment's folder against its manifest.

    expectation: the builder's, or None if it is damaged. full: also read the files that have not
    changed since they were last read.
    """
    fix = repair.fix(expectation)
    try:
        comparison = manifest.compare(prefix, full)
    except manifest.ManifestError as error:
        return failed(NAME, str(error), fix)
    added, damage, _ = user_files.split(prefix, comparison, locked_versions(expectation))
    differences = damage + comparison.differences
    if differences:
        count = (
            "1 difference" if len(differences) == 1 else "{:,} differences".format(len(differences))
        )
        lines = [count + " from what was installed"] + [_line(*each) for each in differences]
        return failed(NAME, "\n".join(lines), fix)
    own = [text for text in added if not text.endswith(user_files.COMPILED)]
    details = ["{:,} as installed".format(len(comparison.entries))]
    details += ["added by you: " + ", ".join(own)] * bool(own)
    return passed(NAME, "; ".join(details + [text for text in added if text not in own]))


def locked_versions(expectation):
    """Return {name: version} of the locked packages; none without an expectation."""
    packages = expectation["packages"] if expectation else []
    return {package["name"]: package["version"] for package in packages}


def _line(path, problem):
    return "%s: %s" % (manifest.display(path), problem) if path else problem
