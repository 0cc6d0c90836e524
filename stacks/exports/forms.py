"""The table of forms: what each is for and needs; exporting a variant in one, and writing it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from stacks.core.console import display_path
from stacks.core.disk import explain_disk_errors, write_atomically
from stacks.core.errors import UsageError
from stacks.exports import built, packages
from stacks.exports.subject import Export, Subject


@dataclass(frozen=True, kw_only=True)
class Form:
    """How a form is written, and which variants cannot have it.

    no_pip: why those cannot for which pip installs something. pip_only: no conda packages or
    variables. reads_python_2: whether an installer of Python 2.7 reads it. image: it names the
    variant's image.
    """

    write: Callable[[Subject], Export]
    no_pip: str = ""
    pip_only: bool = False
    reads_python_2: bool = True
    image: bool = False


FORMS: Mapping[str, Form] = {
    "conda-lock": Form(
        write=packages.as_conda_lock,
        no_pip="an entry of pip in a conda-lock.yml needs an address of the package index",
    ),
    "environment": Form(write=packages.as_environment),
    "pixi": Form(
        write=packages.as_pixi, no_pip="a pixi.toml has no hashes for files of the package index"
    ),
    "pylock": Form(write=packages.as_pylock, pip_only=True, reads_python_2=False),
    "requirements": Form(write=packages.as_requirements, pip_only=True),
    "devcontainer": Form(write=built.as_devcontainer, image=True),
    "apptainer": Form(write=built.as_apptainer, image=True),
    "modulefile": Form(write=built.as_modulefile),
    "easyconfig": Form(write=packages.as_easyconfig),
    "kernelspec": Form(write=built.as_kernelspec),
    "compose": Form(write=built.as_compose, image=True),
}


def export(subject: Subject, name: str) -> Export:
    """Return a variant in the form of a name; UsageError if it cannot have that form."""
    form, variant = FORMS[name], subject.variant
    pins = [pin.name for pin in subject.lock.requirements]
    reason, other = "", "environment"
    if form.no_pip and pins:
        reason = f"pip installs {', '.join(pins)}, and {form.no_pip}"
    elif form.pip_only and (conda := _conda_packages(subject)):
        reason = f"{', '.join(conda)}: conda packages, which the Python package index lacks"
    elif form.pip_only and (variables := variant.environment()):
        reason = f"{', '.join(variables)}: variables, which pip cannot set"
    elif not form.reads_python_2 and variant.framework.python == "2.7":
        reason, other = "no installer of Python 2.7 reads it", "requirements"
    elif form.image and variant.channel:
        reason = "an image's name cannot have the `@` of another channel's packages"
    if reason:
        raise UsageError(
            f"{variant.id} is not available as {name}",
            found=reason,
            fix=f"--as {other} has all of it",
        )
    return form.write(subject)


def _conda_packages(subject: Subject) -> list[str]:
    """Return the variant's conda packages beside its Python and pip."""
    variant = subject.variant
    base = {*variant.framework.base, *variant.channels_own_specs}
    return sorted({re.split("[ =]", spec)[0] for spec in variant.conda_specs() if spec not in base})


def write(export: Export, target: Path) -> Path:
    """Write an export's files and return its path; files with the same bytes stay.

    target: the file; an existing folder for it; for a form of several files the folder. Raises
    UsageError, and writes nothing, if another file is there.
    """
    if export.is_folder:
        paths = {target / name: text for name, text in export.files.items()}
    else:
        [(name, text)] = export.files.items()
        target = target / name if target.is_dir() else target
        paths = {target: text}
    with explain_disk_errors(target):
        for path, text in paths.items():
            same = path.is_file() and path.read_bytes() == text.encode()
            if not same and (path.exists() or path.is_symlink()):
                raise UsageError(
                    f"{display_path(path)} is there already and differs",
                    fix="remove it, or choose another path: --to PATH",
                )
        for path, text in paths.items():
            if not path.exists():
                write_atomically(path, text)
    return target
