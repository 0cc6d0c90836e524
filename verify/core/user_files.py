"""Which files of an environment its user has added: by pip, by uv, by a conda client, by Python."""

from __future__ import absolute_import, division, print_function

import csv
import io
import json
import os
import re
import stat

from verify.core.manifest import Difference, display, load, printable, scan, to_bytes

INSTALLERS = ("pip", "uv")
COMPILED = "compiled Python files"


def split(prefix, comparison, locked):
    """Return (texts, [Difference]): what the user has added, and what is damage.

    prefix: the environment's folder. comparison: manifest.compare's. locked: {name: version} of
    the packages of the lock; one of them that is installed again is damage.
    """
    prefix = to_bytes(prefix)
    versions = {normal(name): version for name, version in locked.items()}
    files = {p for p in comparison.extra if stat.S_ISREG(comparison.found[p].st_mode)}
    added, damage, owned = [], [], set()
    for name, version, source, record, names in _installed(prefix, files, comparison.entries):
        of_package = names & files | {record}
        owned |= of_package
        if normal(name) in versions:
            problem = "%s %s, installed by %s, replaces the locked %s %s"
            words = (name, version, source, name, versions[normal(name)])
            damage.append(Difference(b"", problem % words))
        else:
            count = "{:,} files".format(len(of_package))
            added.append("%s %s by %s (%s)" % (name, version, source, count))
    compiled = {p for p in files - owned if _is_compiled(p, comparison.found)}
    if compiled:
        added.append("{:,} {}".format(len(compiled), COMPILED))
    rest = [path for path in comparison.extra if path not in owned and path not in compiled]
    damage += [Difference(path, "extra") for path in rest]
    return added, damage


def packages(prefix):
    """Yield (name, version, installer, [path]) of each package that the user has added.

    Also of those that replace a locked one. The paths are those of regular files that the manifest
    does not have. Raises ManifestError.
    """
    prefix = to_bytes(prefix)
    _, entries = load(prefix)
    found, _ = scan(prefix)
    files = {p for p in found if p not in entries and stat.S_ISREG(found[p].st_mode)}
    for name, version, source, record, names in _installed(prefix, files, entries):
        yield name, version, source, sorted(names & files | {record})


def normal(name):
    """Return a distribution's name as PEP 503 normalises it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _installed(prefix, files, entries):
    """Yield (name, version, installer, record's path, {paths}) of each package that is added."""
    locked_folders = {os.path.dirname(path) for path in entries}
    for path in sorted(files):
        folder, base = os.path.split(path)
        if folder.endswith(b".dist-info") and base == b"INSTALLER" and folder not in locked_folders:
            installer = _text(prefix, path).strip()
            stem = display(os.path.basename(folder))[: -len(".dist-info")]
            name, _, version = stem.partition("-")
            if installer in INSTALLERS:
                record = os.path.join(folder, b"RECORD")
                # A link or a pipe in its place may never end.
                paths = _of_record(prefix, folder) if record in files else ()
                yield name, version, installer, path, set(paths)
        elif folder == b"conda-meta" and base.endswith(b".json"):
            record = _conda_record(_text(prefix, path))
            if record:
                yield record[0], record[1], "conda", path, set(record[2])


def _of_record(prefix, folder):
    """Yield the paths that a distribution's RECORD has, relative to the environment."""
    site_packages = os.path.dirname(folder)
    text = _text(prefix, os.path.join(folder, b"RECORD"))
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


def _is_compiled(path, found):
    folder, base = os.path.split(path)
    if os.path.basename(folder) == b"__pycache__":
        return True
    # Python 2's place.
    stem, suffix = os.path.splitext(base)
    return suffix in (b".pyc", b".pyo") and os.path.join(folder, stem + b".py") in found


def _text(prefix, path):
    try:
        with io.open(os.path.join(prefix, path), encoding="utf-8", errors="replace") as file:
            return file.read()
    except EnvironmentError:
        return ""
