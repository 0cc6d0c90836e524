"""What an environment has beside its packages: it depends on the lock, the path and the cache.

That is what verify/ expects in it, and what pip reads: its locked packages as constraints. The
framework's settings are a package: see stacks/channel/settings_files.py.
"""

import configparser
import email.parser
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from packaging.version import InvalidVersion, Version

from stacks.channel.settings_files import CONSTRAINTS, FOLDER, MODULES, flags_of
from stacks.core.errors import UsageError
from stacks.environments import folders
from stacks.variants.variant import ACCELERATOR, Variant

EXPECTATION = f"{FOLDER}/expect.json"
# pip's own place, in sys.prefix, for the settings of one environment ("site").
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

# By it, `python -m venv` puts the environment's pip into a virtual environment. Runs under every
# Python 3 that a prefix can have.
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

# What a path cannot have in it, and why.
UNUSABLE = {
    ":": "it separates the entries of PATH",
    "%": "GCC's specs give it a meaning",
    "\\": "GCC's specs give it a meaning",
    ";": "Python 2's configuration files begin a comment there",
    "\n": "it ends the line of a configuration file",
}


def check_place(prefix: Path) -> None:
    """Raise UsageError where a prefix cannot be used at this path."""
    found = [f"{char!r}: {why}" for char, why in UNUSABLE.items() if char in str(prefix)]
    if any("\ud800" <= char <= "\udfff" for char in str(prefix)):
        found.append("a name that is not UTF-8")
    if found:
        raise UsageError(
            f"{prefix}: an environment cannot be made here",
            expected="a path without " + " ".join(c for c in UNUSABLE if c.isprintable()),
            found="; ".join(found),
            fix="move the checkout, or the stack.yaml that it is for, to another folder",
        )


def write(
    variant: Variant,
    prefix: Path,
    final: Path,
    packages: list[dict[str, Any]],
    cache: Path | None = None,
) -> None:
    """Write this into `prefix`, for the place `final` that it will be renamed to.

    `packages` are the entries that the verification suite compares with what it finds; `cache` is
    where environments share what is compiled, None where this one has no part in it.
    """
    flags = flags_of(variant, str(final), compiler_of(prefix))
    expected = expectation(variant, flags, packages)
    if cache:
        expected["verified"] = str(cache / folders.VERIFIED / compiled_with(variant, packages))
    _write(prefix / EXPECTATION, json.dumps(expected, indent=1, sort_keys=True).encode() + b"\n")
    if cache and ACCELERATOR in variant.accelerator:
        _write(prefix / MODULES, os.fsencode(cache / folders.MODULES))
    write_pip_settings(prefix, final, variant.framework.python)


def _write(path: Path, data: bytes) -> None:
    """Write a new file; a package's own may be a hard link into the cache."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(data)


def compiler_of(prefix: Path) -> str:
    """Return the name of an environment's C++ compiler."""
    return compiler_among(f"bin/{path.name}" for path in prefix.glob("bin/*g++"))


def compiler_among(files: Iterable[str]) -> str:
    """Return the name of the C++ compiler among files: conda's own bear the platform in it."""
    found = sorted(name for name in files if re.fullmatch(r"bin/(.+-conda-linux-gnu-)?g\+\+", name))
    return found[0].removeprefix("bin/") if found else "g++"


def compiled_with(variant: Variant, packages: list[dict[str, Any]]) -> str:
    """Return a name for the packages that decide what the suite compiles: all but the BLAS."""
    framework = variant.framework
    specs = (*framework.base, *variant.accelerator, *framework.packages, *framework.pip)
    names = {re.split("[ =]", spec)[0].lower() for spec in specs}
    digests = sorted(p["sha256"] for p in packages if p["name"].lower() in names)
    return hashlib.sha256(" ".join(digests).encode()).hexdigest()[:32]


def own_flags(flags: Mapping[str, str]) -> dict[str, str]:
    """Return the flags that make the variant what it is.

    floatX is not one of them: it is a default that each program may choose for itself.
    """
    return {name: value for name, value in flags.items() if name != "floatX"}


def expectation(
    variant: Variant, flags: Mapping[str, str], packages: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return what verify/ is told of the environment (its --expect file)."""
    framework, blas = variant.framework, variant.blas
    return {
        "schema": 1,
        "variant": variant.name,
        "framework": framework.name,
        "module": framework.module,
        "version": framework.version,
        "python": next(p["version"] for p in packages if p["name"] == "python"),
        "baseline": variant.baseline,
        "accelerator": list(variant.accelerator),
        "blas": blas
        and {
            "name": blas.name,
            "ldflags": blas.ldflags,
            "libraries": list(blas.libraries),
            "alone": variant.one_blas,
        },
        "floatX": variant.floatX,
        "flags": own_flags(flags),
        "packages": packages,
    }


def undone(variant: Variant, prefix: Path, environ: Mapping[str, str]) -> list[str]:
    """Say which of the variant's own settings the user's THEANO_FLAGS or rc files undo."""
    wanted = own_flags(flags_of(variant, str(prefix), compiler_of(prefix)))
    # Where modules are compiled is the user's choice, as on a cluster's nodes.
    del wanted["base_compiledir"]
    found: list[str] = []
    others = environ.get(variant.framework.rc_variable, f"~/.{variant.framework.module}rc")
    for name in others.split(os.pathsep):
        path = Path(os.path.expanduser(name))  # noqa: PTH111 - that one raises without a home
        if name and not _is_own(path):
            found += _differences(wanted, _read_rc(path), str(path))
    variable = variant.framework.flags_variable
    pairs = (p.partition("=") for p in environ.get(variable, "").split(",") if "=" in p)
    # PyTensor writes blas__ldflags for what its file has as [blas] ldflags.
    given = {k.strip().replace("__", "."): v.strip() for k, _, v in pairs}
    return found + _differences(wanted, given, variable)


def _is_own(path: Path) -> bool:
    # In `etc`: a checkout of the project beside the user's own file has the same name.
    return path.parent.name == "etc" and (path.parent / Path(FOLDER).name).is_dir()


def _read_rc(path: Path) -> dict[str, str]:
    """Return what an rc file sets; its names come in lower case, as the framework reads them."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError):
        return {}
    return {
        key if section == "global" else f"{section}.{key}": value
        for section in parser.sections()
        for key, value in parser.items(section)
    }


def _differences(wanted: Mapping[str, str], given: Mapping[str, str], source: str) -> list[str]:
    found = []
    for name, value in wanted.items():
        # Only rc files give names in lower case where they have capitals.
        have = given.get(name, given.get(name.lower()))
        if have is not None and have != value:
            found.append(f"{source} sets {name} to {have!r}, where the variant needs {value!r}")
    return found


def write_pip_settings(prefix: Path, final: Path, python: str) -> None:
    """Write pip's settings into `prefix`, for the place `final` that it will be renamed to.

    To be called when all packages are installed. python: the version of its Python, X.Y. Where the
    prefix has no pip, nothing is written; a package's own files stay.
    """
    library = prefix / f"lib/python{python}"
    versions = installed(library / "site-packages")
    if "pip" not in versions:
        return
    lines = [f"{name}=={version},{HINT}\n" for name, version in sorted(versions.items())]
    _write(prefix / CONSTRAINTS, (HEAD + "".join(lines)).encode())
    feature = _feature(versions["pip"], python)
    config = f"[global]\nuse-feature = {feature}\n" if feature else ""
    _write(prefix / CONFIG, f"[install]\nconstraint = {url(final)}\n{config}".encode())
    if python != "2.7" and not (library / "ensurepip").exists():
        _write(library / "ensurepip/__init__.py", b"")
        _write(library / "ensurepip/__main__.py", ENSUREPIP.format(config=config).encode())


def installed(site_packages: Path) -> dict[str, str]:
    """Return the version of each distribution in a folder by its name, where both are valid."""
    # Loaded here: all stages of packages come with it.
    from stacks.channel.staging.tree import NAME

    found = {}
    parser = email.parser.HeaderParser()
    for pattern in ("*.dist-info/METADATA", "*.egg-info/PKG-INFO", "*.egg-info"):
        for path in filter(Path.is_file, site_packages.glob(pattern)):
            message = parser.parsestr(path.read_text(encoding="utf-8", errors="replace"))
            name, version = message["Name"], message["Version"]
            # pip would refuse the whole file.
            with suppress(InvalidVersion):
                if name and version and NAME.fullmatch(name) and Version(version):
                    found[name] = version
    return found


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
