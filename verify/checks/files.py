"""Are the environment's files the ones that the builder has installed?

This imports neither NumPy nor the framework, because their files may be damaged.
"""

from __future__ import absolute_import, division, print_function

import argparse
import json
import os
import sys

from verify import table
from verify.core import expectation as expectations
from verify.core import fixes, machine, manifest, program, progress, report, user_files
from verify.core.report import failed, passed, skipped

NAME = "files"
EXPECTATION = "etc/theano-stacks/expect.json"
PASSED, FAILED = 0, 1


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
    fix = fixes.repair_fix(expectation)
    try:
        comparison = manifest.compare(prefix, full)
    except manifest.ManifestError as error:
        return failed(NAME, str(error), fix)
    added, damage = user_files.split(prefix, comparison, locked_versions(expectation))
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


def main(argv):
    """Check the files of a folder; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="verify files", description="Compare the files of an environment with its manifest."
    )
    parser.add_argument("--prefix", metavar="PREFIX", required=True, help="the environment")
    parser.add_argument("--full", action="store_true", help="read also what has not changed")
    parser.add_argument("--json", metavar="FILE", help="write a report of differences to FILE")
    parser.add_argument("--list-added", action="store_true", help="print the user's packages")
    parser.add_argument("--debug", action="store_true", help="print tracebacks")
    return program.exit_status("verify files", run, parser.parse_args(argv))


def run(arguments):
    """Check the files; on a difference print the table's lines and write the report."""
    path = os.path.join(arguments.prefix, EXPECTATION)
    if not os.path.exists(path) and not os.path.exists(
        os.path.join(arguments.prefix, manifest.MANIFEST)
    ):
        raise expectations.ExpectationError("%s is not an environment" % arguments.prefix)
    try:
        expectation = expectations.load(path)
    except expectations.ExpectationError:
        # The manifest shows whether it is damaged.
        expectation = None
    if arguments.list_added:
        return list_added(arguments.prefix)
    progress.note("comparing the files with the manifest")
    try:
        check = check_prefix(arguments.prefix, expectation, arguments.full)
    finally:
        progress.end()
    if check.status != report.FAIL:
        if expectation is None:
            expectations.load(path)
        return PASSED
    lines = table.check_lines([check._asdict()], table.terminal_width(), table.wants_colour())
    table.show("\n".join(lines) + "\n")
    if arguments.json and expectation:
        report.write(arguments.json, document(expectation, check))
    return FAILED


def list_added(prefix):
    """Print the packages that the user has added, null if nobody knows; return the exit status."""
    try:
        packages = list(user_files.packages(prefix))
    except manifest.ManifestError:
        print("null")
        return PASSED
    rows = [(name, version, source, _texts(paths)) for name, version, source, paths in packages]
    print(json.dumps(rows))
    return PASSED


def _texts(paths):
    # Python 2 has no such function, and paths of bytes that are text.
    decode = getattr(os, "fsdecode", manifest.display)
    return [decode(path) for path in paths]


def document(expectation, check):
    """Return the report of an environment whose Python was not started."""
    flags = expectation["flags"]
    return report.document(
        variant=expectation["variant"],
        framework={
            "name": expectation["framework"],
            "module": expectation["module"],
            "version": expectation["version"],
            "python": expectation["python"],
        },
        machine=machine.describe({}),
        settings={
            "floatX": expectation["floatX"],
            "ldflags": flags.get("blas.ldflags", ""),
            "cxx": flags.get("cxx", ""),
            "mode": flags.get("mode", ""),
            "linker": flags.get("linker", ""),
            "threads": None,
        },
        packages=[
            {key: package[key] for key in ("name", "version", "sha256")}
            for package in expectation["packages"]
        ],
        checks=[check],
        timings=[],
    )
