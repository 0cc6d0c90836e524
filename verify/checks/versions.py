"""Are the packages the ones that were locked?"""

from __future__ import absolute_import, division, print_function

import glob
import importlib
import json
import os
import platform
import re
import sys

from verify.core.report import failed, passed, skipped

NAME = "versions"
SEEN = ("numpy", "scipy", "numba", "six", "pip", "setuptools")


def check(context):
    """Check every package of the expectation whose version can be seen from inside."""
    expectation = context.expectation
    if not expectation:
        return skipped(NAME, "nothing is locked here")
    wrong, right, unseen = [], 0, 0
    for name, wanted, found in _pairs(context):
        if found is None:
            unseen += 1
        elif any(_same(one, wanted) for one in found) and len(set(map(_public, found))) == 1:
            right += 1
        else:
            wrong.append("%s %s, locked: %s" % (name, " and ".join(sorted(set(found))), wanted))
    missing = [p["name"] for p in expectation["packages"] if p.get("module") and not _seen(p)]
    wrong += ["%s is not there" % name for name in missing]
    if wrong:
        return failed(NAME, "; ".join(wrong), "build the environment again from its lock")
    detail = "%d as locked" % right
    return passed(NAME, detail + (", %d that carry no version" % unseen if unseen else ""))


def _pairs(context):
    expectation = context.expectation
    yield "python", expectation["python"], [platform.python_version()]
    yield expectation["module"], expectation["version"], [context.framework.version]
    for package in expectation["packages"]:
        if package["name"] != "python":
            yield package["name"], package["version"], _seen(package)


def _seen(package):
    """Return every version that is found for a package, or None."""
    found = [installed(package["name"])]
    if package.get("module"):
        try:
            module = importlib.import_module(package["module"])
        except ImportError:
            return None
        found.append(getattr(module, "__version__", None))
    return [one for one in found if one] or None


def installed(name):
    """Return the version that a distribution's metadata or conda's record gives, or None."""
    wanted = _normal(name)
    for folder in sys.path:
        for path in glob.glob(os.path.join(folder, "*.dist-info")):
            stem = os.path.basename(path)[: -len(".dist-info")]
            if "-" in stem and _normal(stem.rsplit("-", 1)[0]) == wanted:
                return stem.rsplit("-", 1)[1]
    for path in glob.glob(os.path.join(sys.prefix, "conda-meta", str(name) + "-*.json")):
        with open(path) as file:
            record = json.load(file)
        if record.get("name") == name:
            return record["version"]
    return None


def packages(context):
    """Return the report's list of packages: those of the lock, else those that matter."""
    if context.expectation:
        return [
            {"name": p["name"], "version": p["version"], "sha256": p["sha256"]}
            for p in context.expectation["packages"]
        ]
    found = [("python", platform.python_version())]
    found.append((context.framework.name, context.framework.version))
    found += [(name, installed(name)) for name in SEEN]
    return [
        {"name": name, "version": version, "sha256": None} for name, version in found if version
    ]


def _same(found, wanted):
    return _public(found) == _public(wanted)


def _public(version):
    return version.split("+")[0]


def _normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()
