"""Are the environment's files those that the builder has installed? Which has its user added?

This imports neither NumPy nor the framework, because their files may be damaged.
"""

from __future__ import absolute_import, division, print_function

import argparse
import csv
import json
import os
import stat
import sys

from verify import table
from verify.core import expectation as expectations
from verify.core import fixes, machine, manifest, program, progress, report
from verify.core.machine import read_text
from verify.core.manifest import Difference, display, load, printable, scan, to_bytes
from verify.core.packages import INSTALLERS, normal
from verify.core.report import failed, passed, skipped

NAME = "files"
EXPECTATION = "etc/theano-stacks/expect.json"
COMPILED, ADDED = "compiled Python files", "added by you: "
PASSED, FAILED = 0, 1


def check(context):
    """Check every file of the environment that runs the suite against its manifest."""
    if not context.expectation:
        return skipped(NAME, "this environment has no manifest of its files")
    found = check_prefix(own_prefix(), context.expectation, context.full)
    context.is_whole = found.status == report.PASS and ADDED not in found.detail
    return found


def own_prefix():
    """Return the folder of the environment that runs the suite."""
    return getattr(sys, "base_prefix", sys.prefix)


def check_prefix(prefix, expectation, full=False):
    """Check every file of an environment's folder against its manifest.

    expectation: the builder's, or None if it is damaged. full: also read the files that have not
    changed since they were last read.
    """
    fix = fixes.repair_fix(expectation)
    try:
        comparison = manifest.compare(prefix, full)
    except expectations.SealError as error:
        return failed(NAME, "%s %s" % (manifest.MANIFEST, error), fix)
    packages = expectation["packages"] if expectation else ()
    locked = {package["name"]: package["version"] for package in packages}
    added, replaced, extra = split(prefix, comparison, locked)
    # What is extra comes last: a folder that was moved hides what has taken its place.
    differences = replaced + comparison.differences + extra
    if differences:
        plural = "s" * (len(differences) > 1)
        lines = ["{:,} difference{} from what was installed".format(len(differences), plural)]
        for path, problem in differences:
            lines.append("%s: %s" % (display(path), problem) if path else problem)
        return failed(NAME, "\n".join(lines), fix)
    own = [text for text in added if not text.endswith(COMPILED)]
    details = ["{:,} as installed".format(len(comparison.entries))]
    details += [ADDED + ", ".join(own)] * bool(own)
    return passed(NAME, "; ".join(details + [text for text in added if text not in own]))


def main(argv):
    """Check the files of a folder; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="verify files", description="Compare the files of an environment with its manifest."
    )
    parser.add_argument("--prefix", metavar="PREFIX", required=True, help="the environment")
    parser.add_argument("--full", action="store_true", help="read also what has not changed")
    parser.add_argument("--list-added", action="store_true", help="print the user's packages")
    program.add_options(parser, in_environment=False)
    return program.exit_status("verify files", run, parser.parse_args(argv))


def run(arguments):
    """Check the files; on a difference print the table's lines and write the report."""
    path, record = (os.path.join(arguments.prefix, n) for n in (EXPECTATION, manifest.MANIFEST))
    if not os.path.exists(path) and not os.path.exists(record):
        raise expectations.ExpectationError("%s is not an environment" % arguments.prefix)
    if arguments.list_added:
        print(json.dumps(added_packages(arguments.prefix)))
        return PASSED
    try:
        expectation = expectations.load(path)
    except expectations.ExpectationError:
        # The manifest shows whether it is damaged.
        expectation = None
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


def document(expectation, check):
    """Return the report of an environment whose Python was not started."""
    flags = expectation["flags"]
    names = ("module", "version", "python")
    keys = ("name", "version", "sha256")
    return report.document(
        variant=expectation["variant"],
        framework=dict({n: expectation[n] for n in names}, name=expectation["framework"]),
        machine=machine.describe({}),
        settings=dict(
            {name: flags.get(name, "") for name in ("cxx", "mode", "linker")},
            floatX=expectation["floatX"],
            ldflags=flags.get("blas.ldflags", ""),
            threads=None,
        ),
        packages=[{key: package[key] for key in keys} for package in expectation["packages"]],
        checks=[check],
        timings=[],
    )


def split(prefix, comparison, locked):
    """Return (texts, [Difference], [Difference]): what the user has added, replaced, and the rest.

    prefix: the environment's folder. comparison: manifest.compare's. locked: {name: version} of
    the packages of the lock; one of them that is installed again is damage.
    """
    prefix = to_bytes(prefix)
    versions = {normal(name): version for name, version in locked.items()}
    files = {p for p in comparison.extra if stat.S_ISREG(comparison.found[p].st_mode)}
    added, replaced, owned = [], [], set()
    for name, version, source, record, names in _installed(prefix, files, comparison.entries):
        of_package = names & files | {record}
        owned |= of_package
        if normal(name) in versions:
            problem = "%s %s, installed by %s, replaces the locked %s %s"
            words = (name, version, source, name, versions[normal(name)])
            replaced.append(Difference(b"", problem % words))
        else:
            count = "{:,} files".format(len(of_package))
            added.append("%s %s by %s (%s)" % (name, version, source, count))
    compiled = {p for p in files - owned if _is_compiled(p, comparison.found)}
    compiled -= {path for path in compiled if _is_never_checked(os.path.join(prefix, path))}
    if compiled:
        added.append("{:,} {}".format(len(compiled), COMPILED))
    owned |= compiled
    return added, replaced, _extra(set(comparison.extra) - owned, set(comparison.entries) | owned)


def _extra(paths, others):
    """Return a Difference for each path; one for all in a folder that has none of the others."""
    inner = {os.path.dirname(path) for path in others}
    folders, counts = {each for folder in inner for each in _upwards(folder)}, {}
    for path in paths:
        top = [each for each in _upwards(path) if each not in folders][-1]
        counts[top] = counts.get(top, 0) + 1
    form = "extra, with {:,} file{}"
    return [
        Difference(path, "extra" if path in paths else form.format(count, "s" * (count > 1)))
        for path, count in sorted(counts.items())
    ]


def _upwards(path):
    """Yield a path and the folders above it."""
    while path:
        yield path
        path = os.path.dirname(path)


def added_packages(prefix):
    """Return [name, version, installer, [path]] of each package that the user has added.

    Also of those that replace a locked one; None if the manifest is damaged. The paths are those of
    regular files that the manifest does not have.
    """
    prefix = to_bytes(prefix)
    try:
        _, entries = load(prefix)
    except expectations.SealError:
        return None
    found, _ = scan(prefix)
    files = {p for p in found if p not in entries and stat.S_ISREG(found[p].st_mode)}
    # Python 2 has no such function, and paths of bytes that are text.
    decode = getattr(os, "fsdecode", display)
    return [
        [name, version, source, [decode(path) for path in sorted(names & files | {record})]]
        for name, version, source, record, names in _installed(prefix, files, entries)
    ]


def _installed(prefix, files, entries):
    """Yield (name, version, installer, record's path, {paths}) of each package that is added."""
    locked_folders = {os.path.dirname(path) for path in entries}
    for path in sorted(files):
        folder, base = os.path.split(path)
        if folder.endswith(b".dist-info") and base == b"INSTALLER" and folder not in locked_folders:
            installer = read_text(os.path.join(prefix, path)).strip()
            stem = display(os.path.basename(folder))[: -len(".dist-info")]
            name, _, version = stem.partition("-")
            if installer in INSTALLERS:
                record = os.path.join(folder, b"RECORD")
                # A link or a pipe in its place may never end.
                paths = _of_record(prefix, folder) if record in files else ()
                yield name, version, installer, path, set(paths)
        elif folder == b"conda-meta" and base.endswith(b".json"):
            record = _conda_record(read_text(os.path.join(prefix, path)))
            if record:
                yield record[0], record[1], "conda", path, set(record[2])


def _of_record(prefix, folder):
    """Yield the paths that a distribution's RECORD has, relative to the environment."""
    site_packages = os.path.dirname(folder)
    text = read_text(os.path.join(prefix, folder, b"RECORD"))
    # Python 2's csv reads bytes.
    lines = text.encode("utf-8").splitlines() if str is bytes else text.splitlines()
    try:
        for row in csv.reader(lines):
            if row:
                path = os.path.join(prefix, site_packages, to_bytes(row[0]))
                yield os.path.relpath(os.path.normpath(path), prefix)
    except csv.Error:
        # What a damaged RECORD does not name is damage too.
        return


def _conda_record(text):
    try:
        record = json.loads(text)
        if not isinstance(record["files"], list):
            return None
        paths = [to_bytes(path) for path in record["files"]]
        return printable(record["name"]), printable(record["version"]), paths
    # Python raises RuntimeError for too many levels.
    except (AttributeError, ValueError, KeyError, TypeError, RuntimeError):
        return None


def _is_never_checked(path):
    """Return whether Python runs a compiled file whatever its source has become: PEP 552."""
    try:
        with open(path, "rb") as file:
            return file.read(8)[4:] == b"\x01\0\0\0"
    except EnvironmentError:
        # Neither does Python read it.
        return False


def _is_compiled(path, found):
    folder, base = os.path.split(path)
    if os.path.basename(folder) == b"__pycache__":
        return True
    # Python 2's place.
    stem, suffix = os.path.splitext(base)
    return suffix in (b".pyc", b".pyo") and os.path.join(folder, stem + b".py") in found
