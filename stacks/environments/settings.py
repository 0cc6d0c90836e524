"""The settings of an environment: files inside the prefix that Theano reads at every start.

They hold however python is started, by `./invoke run`, after `conda activate` or by its bare path,
because a .pth file names them to Theano, and the compiler to PATH, when the interpreter starts.
"""

from __future__ import annotations

import configparser
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stacks.core.errors import UsageError
from stacks.environments import pip_settings, start_hook
from stacks.variants.variant import ACCELERATOR, Variant

FOLDER = "etc/theano-stacks"
EXPECTATION = f"{FOLDER}/expect.json"
RC_FILE = "etc/theanorc"
COMPILE_FOLDER = "var/compiledir"
HOOK, COMPILE_HOOK = "_theano_stacks", "_theano_stacks_compiled"
MODULES_VARIABLE = "THEANO_STACKS_MODULES"

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
    if found:
        raise UsageError(
            f"{prefix}: an environment cannot be made here",
            expected="a path without " + " ".join(c for c in UNUSABLE if c.isprintable()),
            found="; ".join(found),
            fix="move the checkout to another folder",
        )


def write(
    variant: Variant,
    prefix: Path,
    final: Path,
    packages: list[dict[str, Any]],
    modules: Path | None = None,
) -> None:
    """Write a variant's settings into `prefix`, for the place `final` that it will be renamed to.

    `packages` are the entries that the verification suite compares with what it finds; `modules`
    is the folder of compiled modules that environments share, None where this one has no part in
    it.
    """
    flags = flags_of(variant, final, compiler_of(prefix))
    (prefix / FOLDER).mkdir(parents=True, exist_ok=True)
    (prefix / COMPILE_FOLDER).mkdir(parents=True, exist_ok=True)
    _write(prefix / RC_FILE, rc_text(variant, flags))
    site_packages = prefix / f"lib/python{variant.framework.python}/site-packages"
    _write(
        site_packages / f"{HOOK}.py",
        start_hook.SOURCE.format(
            module=variant.framework.module,
            rc_variable=variant.framework.rc_variable,
            environment=tuple(sorted(variant.environment().items())),
            threads=variant.blas.threads if variant.blas else (),
            one_thread=bool(variant.blas and variant.blas.one_thread),
            processors=tuple(
                (p.flags, tuple(sorted(p.known.items())), tuple(sorted(p.environment.items())))
                for p in (variant.blas.processors if variant.blas else ())
            ),
            modules=os.fsencode(modules) if modules and ACCELERATOR in variant.accelerator else b"",
            modules_variable=MODULES_VARIABLE,
            constraints_file=pip_settings.CONSTRAINTS,
            constraints=pip_settings.url(final),
        ),
    )
    _write(
        site_packages / f"{COMPILE_HOOK}.py",
        start_hook.COMPILE_SOURCE.format(
            hook=HOOK, flags_variable=variant.framework.flags_variable
        ),
    )
    _write(site_packages / "theano-stacks.pth", f"import {HOOK}\nimport {COMPILE_HOOK}\n")
    _write(
        prefix / EXPECTATION,
        json.dumps(expectation(variant, flags, packages), indent=1, sort_keys=True) + "\n",
    )
    pip_settings.write(prefix, final, variant.framework.python)


def _write(path: Path, text: str) -> None:
    """Write a new file; a package's own may be a hard link into the cache."""
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")


def compiler_of(prefix: Path) -> str:
    """Return the name of an environment's C++ compiler: conda's own bear the platform in it."""
    found = sorted(path.name for path in prefix.glob("bin/*-conda-linux-gnu-g++"))
    return found[0] if found and not (prefix / "bin/g++").exists() else "g++"


def flags_of(variant: Variant, prefix: Path, compiler: str = "g++") -> dict[str, str]:
    """Return every flag of the framework that the environment sets."""
    return {
        **variant.theano_flags(),
        "cxx": compiler,
        "base_compiledir": str(prefix / COMPILE_FOLDER),
    }


def own_flags(flags: Mapping[str, str]) -> dict[str, str]:
    """Return the flags that make the variant what it is.

    floatX is not one of them: it is a default that each program may choose for itself.
    """
    return {name: value for name, value in flags.items() if name != "floatX"}


def rc_text(variant: Variant, flags: Mapping[str, str]) -> str:
    """Return the text of the framework's configuration file (Theano's theanorc)."""
    sections: dict[str, dict[str, str]] = {}
    for name, value in sorted(flags.items()):
        section, _, key = name.rpartition(".")
        sections.setdefault(section or "global", {})[key] = value.replace("%", "%%")
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_dict(sections)
    out = io.StringIO()
    parser.write(out)
    return f"# {variant.summary}. Written by theano-stacks; made anew with the environment.\n" + (
        out.getvalue().rstrip() + "\n"
    )


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
    wanted = own_flags(flags_of(variant, prefix, compiler_of(prefix)))
    found: list[str] = []
    others = environ.get(variant.framework.rc_variable, f"~/.{variant.framework.module}rc")
    for name in others.split(os.pathsep):
        path = Path(os.path.expanduser(name))  # noqa: PTH111 - that one raises without a home
        if name and not (path.parent / Path(FOLDER).name).is_dir():
            found += _differences(wanted, _read_rc(path), str(path))
    variable = variant.framework.flags_variable
    pairs = (p.partition("=") for p in environ.get(variable, "").split(",") if "=" in p)
    # PyTensor writes blas__ldflags for what its file has as [blas] ldflags.
    given = {k.strip().replace("__", "."): v.strip() for k, _, v in pairs}
    return found + _differences(wanted, given, variable)


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
