"""What pip reads inside an environment: its locked packages as constraints.

`pip.conf` in sys.prefix is pip's own place for settings of one environment ("site"). The folder
`ensurepip` lets `python -m venv` put the environment's pip into a virtual environment.
"""

from __future__ import annotations

import email.parser
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from packaging.version import InvalidVersion, Version

from stacks.channel.settings_files import CONSTRAINTS

CONFIG = "pip.conf"
# pip repeats a constraint in its error, so a clause that is always true says what to do.
HINT = "!=0+locked.here.to.change.it.write.a.stack.yaml.with.invoke.init"
HEAD = """\
# The locked packages of this environment: pip may not replace them. For other versions, describe
# an environment of your own: `./invoke init FOLDER` writes its stack.yaml.
"""
# The first pip that can leave constraints out of the isolated environments in which it builds
# packages; setuptools is often newer there.
BUILDS_APART = (25, 3)

# Runs under every Python 3 that a prefix can have.
ENSUREPIP = '''\
"""Put the pip of this environment into a virtual environment; `python -m venv` calls this."""

import csv
import glob
import os
import shutil
import sys

CONFIG = {config!r}


def main():
    site = os.path.join("lib", "python%d.%d" % sys.version_info[:2], "site-packages")
    [record] = glob.glob(
        os.path.join(glob.escape(sys.base_prefix), site, "pip-*.dist-info", "RECORD")
    )
    with open(record, encoding="utf-8") as file:
        names = [os.path.normpath(os.path.join(site, row[0])) for row in csv.reader(file) if row]
    for name in names:
        if name.startswith(("bin" + os.sep, site + os.sep)):
            target = os.path.join(sys.prefix, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(os.path.join(sys.base_prefix, name), target)
            if name.startswith("bin"):
                os.chmod(target, 0o755)
    config = os.path.join(sys.prefix, "pip.conf")
    if CONFIG and not os.path.exists(config):
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG)


if __name__ == "__main__":
    main()
'''


def write(prefix: Path, final: Path, python: str) -> None:
    """Write pip's settings into `prefix`, for the place `final` that it will be renamed to.

    To be called when all packages are installed. python: the version of its Python, X.Y. Where the
    prefix has no pip, nothing is written; a package's own files stay.
    """
    library = prefix / f"lib/python{python}"
    versions = installed(library / "site-packages")
    if "pip" not in versions:
        return
    lines = [f"{name}=={version},{HINT}\n" for name, version in sorted(versions.items())]
    _write(prefix / CONSTRAINTS, HEAD + "".join(lines))
    feature = _feature(versions["pip"], python)
    config = f"[global]\nuse-feature = {feature}\n" if feature else ""
    _write(prefix / CONFIG, f"[install]\nconstraint = {url(final)}\n{config}")
    if python != "2.7" and not (library / "ensurepip").exists():
        _write(library / "ensurepip/__init__.py", "")
        _write(library / "ensurepip/__main__.py", ENSUREPIP.format(config=config))


def installed(site_packages: Path) -> dict[str, str]:
    """Return the version of each distribution in a folder by its name, where both are valid."""
    # Loaded here: all stages of packages come with it.
    from stacks.channel.staging.dist_info import NAME

    found = {}
    parser = email.parser.HeaderParser()
    for pattern in ("*.dist-info/METADATA", "*.egg-info/PKG-INFO", "*.egg-info"):
        for path in filter(Path.is_file, site_packages.glob(pattern)):
            message = parser.parsestr(path.read_text(encoding="utf-8", errors="replace"))
            name, version = message["Name"], message["Version"]
            # pip would refuse the whole file.
            if name and version and NAME.fullmatch(name) and _is_version(version):
                found[name] = version
    return found


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


def url(prefix: Path) -> str:
    """Return the address of an environment's constraints: pip's settings separate by blanks."""
    return f"file://{quote(str(prefix / CONSTRAINTS))}"


def for_uv(prefix: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables by which uv, which reads no pip.conf, keeps to the constraints."""
    if not (prefix / CONSTRAINTS).is_file():
        return {}
    given = environ.get("UV_CONSTRAINT", "").split()
    # Those of another environment whose program started this one.
    given = [name for name in given if not name.endswith(f"/{CONSTRAINTS}")]
    return {"UV_CONSTRAINT": " ".join([*given, url(prefix)])}


def _feature(pip: str, python: str) -> str:
    """Return the feature that this version of pip needs to keep to constraints as others do."""
    if python == "2.7":
        # By default it takes the constraint instead of the request, and reports success.
        return "2020-resolver"
    major, minor = pip.split(".")[:2]
    return "build-constraint" if (int(major), int(minor)) >= BUILDS_APART else ""


def _write(path: Path, text: str) -> None:
    """Write a new file; a package's own may be a hard link into the cache."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")
