"""Are the installed packages the locked ones?"""

from __future__ import absolute_import, division, print_function

import glob
import importlib
import json
import os
import platform
import sys

from verify.core import repair
from verify.core.report import failed, passed, skipped
from verify.core.user_files import normal

NAME = "versions"
# In the report of a diagnosis, where no lock names the packages.
DIAGNOSED = ("numpy", "scipy", "numba", "six", "pip", "setuptools")


def check(context):
    """Check every package of the expectation that has a version where it is installed."""
    expectation = context.expectation
    if not expectation:
        return skipped(NAME, "this environment has no lock")
    faults, right, unknown = [], 0, 0
    for name, locked, versions in _packages(context):
        if versions is None:
            unknown += 1
        elif set(map(_public, versions)) == {_public(locked)}:
            right += 1
        else:
            faults.append("%s %s, locked: %s" % (name, " and ".join(sorted(set(versions))), locked))
    modules = [package for package in expectation["packages"] if package.get("module")]
    faults += ["%s is missing" % p["name"] for p in modules if not _versions(p)]
    if faults:
        return failed(NAME, "; ".join(faults), repair.fix(expectation))
    detail = "%d as locked" % right
    return passed(NAME, detail + (", %d without a version" % unknown if unknown else ""))


def _packages(context):
    """Yield (name, locked version, [installed versions] or None) of each package."""
    expectation = context.expectation
    yield "python", expectation["python"], [platform.python_version()]
    yield expectation["module"], expectation["version"], [context.framework.version]
    for package in expectation["packages"]:
        if package["name"] != "python":
            yield package["name"], package["version"], _versions(package)


def _versions(package):
    """Return the versions that a package's metadata and its module give, or None."""
    name = package["name"]
    versions = _distributions(name) or [_conda_version(name)]
    if package.get("module"):
        try:
            module = importlib.import_module(package["module"])
        except ImportError:
            return None
        versions.append(getattr(module, "__version__", None))
    elif name in DIAGNOSED:
        # The metadata of a package that pip has replaced may be those of the one before.
        versions.append(getattr(sys.modules.get(name), "__version__", None))
    return [version for version in versions if version] or None


def installed(name):
    """Return the version in a package's dist-info or conda record, or None."""
    return (_distributions(name) or [_conda_version(name)])[0]


def _distributions(name):
    """Return the versions of a distribution in the folder that Python imports it from.

    More than one if an installer has left the metadata of the one that it replaced.
    """
    for folder in sys.path:
        stems = [
            os.path.basename(path)[: -len(".dist-info")].rpartition("-")
            for path in glob.glob(os.path.join(folder, "*.dist-info"))
        ]
        versions = [
            version for other, dash, version in stems if dash and normal(other) == normal(name)
        ]
        if versions:
            return sorted(versions)
    return []


def _conda_version(name):
    for path in glob.glob(os.path.join(sys.prefix, "conda-meta", str(name) + "-*.json")):
        with open(path) as file:
            record = json.load(file)
        if record.get("name") == name:
            return record["version"]
    return None


def packages(context):
    """Return the packages for the report: those of the lock, else the framework and DIAGNOSED."""
    if context.expectation:
        return [
            {"name": p["name"], "version": p["version"], "sha256": p["sha256"]}
            for p in context.expectation["packages"]
        ]
    versions = [("python", platform.python_version())]
    versions.append((context.framework.name, context.framework.version))
    others = [name for name in DIAGNOSED if name != context.framework.name]
    versions += [(name, installed(name)) for name in others]
    return [
        {"name": name, "version": version, "sha256": None} for name, version in versions if version
    ]


def _public(version):
    return version.split("+")[0]
