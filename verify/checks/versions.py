"""Are the installed packages the locked ones?"""

from __future__ import absolute_import, division, print_function

import importlib
import os
import platform
import sys

from verify.checks import settings
from verify.core import fixes, machine, surroundings
from verify.core import packages as package_metadata
from verify.core.configuration import MODULES
from verify.core.report import failed, passed, skipped

NAME = "versions"
# In the report of a diagnosis, where no lock names the packages.
DIAGNOSED = ("numpy", "scipy", "numba", "six", "pip", "setuptools")


def check(context):
    """Check every package of the expectation that has a version where it is installed.

    The framework and NumPy have to come from the environment itself.
    """
    expectation = context.expectation
    if not expectation:
        others = [name for name in MODULES if package_metadata.is_installed(name)]
        others = ", ".join(name for name in others if name != context.framework.name)
        more = "; installed too, and not verified: " + others if others else ""
        return skipped(NAME, "this environment has no lock" + more)
    for name in (expectation["module"], "numpy"):
        file = getattr(sys.modules.get(name), "__file__", None)
        folder = file and os.path.dirname(os.path.dirname(os.path.abspath(file)))
        if folder and not _is_below(folder, sys.prefix):
            detail = "%s comes from %s, not from this environment" % (name, folder)
            return failed(NAME, detail, _fix(expectation, folder))
    faults, right, unknown = [], 0, 0
    # Of each: name, locked version, [installed versions] or None.
    packages = [
        ("python", expectation["python"], [platform.python_version()]),
        (expectation["module"], expectation["version"], [context.framework.version]),
    ]
    packages += [
        (package["name"], package["version"], _versions(package))
        for package in expectation["packages"]
        if package["name"] != "python"
    ]
    for name, locked, versions in packages:
        if versions is None:
            unknown += 1
        elif set(map(_public, versions)) == {_public(locked)}:
            right += 1
        else:
            faults.append("%s %s, locked: %s" % (name, " and ".join(sorted(set(versions))), locked))
    modules = {package["name"] for package in expectation["packages"] if package.get("module")}
    faults += [
        "%s is missing" % name for name, _, found in packages if name in modules and not found
    ]
    if faults:
        return failed(NAME, "; ".join(faults), fixes.repair_of(context))
    detail = "%d as locked" % right
    return passed(NAME, detail + (", %d without a version" % unknown if unknown else ""))


def _is_below(path, folder):
    # A conda client may make links to its own folder of packages.
    pairs = [(each(path), each(folder)) for each in (os.path.abspath, os.path.realpath)]
    return any((inner + os.sep).startswith(outer + os.sep) for inner, outer in pairs)


def _fix(expectation, folder):
    """Return how to have what comes from another folder come from the environment."""
    home = package_metadata.user_folder()
    if home and _is_below(folder, home):
        return "leave out the packages of your home, as `run` does:\nexport PYTHONNOUSERSITE=1"
    fix = surroundings.without("PYTHONPATH", os.path.realpath(folder))
    return fix or fixes.repair_fix(expectation)


def _versions(package):
    """Return the versions that a package's metadata and its module give, or None."""
    name = package["name"]
    versions = package_metadata.versions_of(name)
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


def described(context, peaks):
    """Return what a report has of the environment and the machine; peaks: as machine.describe."""
    loaded, locked = context.framework, context.expectation or {}
    return {
        "variant": locked.get("variant"),
        "framework": {
            "name": locked.get("framework") or "%s-%s" % (loaded.name, loaded.version),
            "module": loaded.name,
            "version": loaded.version,
            "python": platform.python_version(),
        },
        "machine": machine.describe(peaks),
        "settings": settings.in_force(context),
        "packages": _packages(context),
    }


def _packages(context):
    """Return the packages of the lock, else the framework and DIAGNOSED."""
    if context.expectation:
        return [
            {"name": p["name"], "version": p["version"], "sha256": p["sha256"]}
            for p in context.expectation["packages"]
        ]
    versions = [("python", platform.python_version())]
    versions.append((context.framework.name, context.framework.version))
    others = [name for name in DIAGNOSED if name != context.framework.name]
    versions += [(name, package_metadata.installed(name)) for name in others]
    return [
        {"name": name, "version": version, "sha256": None} for name, version in versions if version
    ]


def _public(version):
    return version.split("+")[0]
