"""The forms of a variant for other tools: the table of them, exporting in one, and writing it.

Here too are the forms for what `build` makes: an image or an environment, as other tools start it.
Sources: the Development Containers Specification (devcontainer.json), Apptainer's user guide
("Definition Files"), the Compose Specification, and modulefile(4) of Environment Modules.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from stacks.core.console import display_path
from stacks.core.disk import explain_disk_errors, write_atomically
from stacks.core.errors import UsageError
from stacks.environments.programs import own_variables
from stacks.environments.use import kernel
from stacks.exports import packages
from stacks.exports.packages import Export, Subject
from stacks.image.files import PREFIX
from stacks.image.metadata import ENTRY, UID, USER, WORK
from verify.core import surroundings

# Debian 12 with git and ps, and the libraries of the server that an editor starts in it. The
# variant's image has none of them.
BASE = "buildpack-deps:bookworm-scm"


def as_devcontainer(subject: Subject) -> Export:
    """Return a development container: .devcontainer/devcontainer.json and a Dockerfile."""
    python = {"python.defaultInterpreterPath": f"{PREFIX}/bin/python"}
    content: dict[str, Any] = {
        "name": subject.name,
        "build": {"dockerfile": "Dockerfile"},
        "workspaceMount": f"source=${{localWorkspaceFolder}},target={WORK},type=bind",
        "workspaceFolder": str(WORK),
        "remoteUser": USER,
        "customizations": {"vscode": {"extensions": ["ms-python.python"], "settings": python}},
    }
    if subject.variant.device == "cuda":
        content |= {"hostRequirements": {"gpu": True}, "runArgs": ["--gpus", "all"]}
    # Root's own: an editor's features and apt-get run as root, with its home and programs.
    of_root = {"PATH": f"{PREFIX}/bin:$PATH", "HOME": "", "USER": ""}
    own = subject.variant.exported(PREFIX)
    variables = {n: of_root.get(n, value) for n, value in subject.image.environment.items()}
    variables |= {n: re.sub(r'(["$\\])', r"\\\1", v) for n, v in own.items()}
    environment = " ".join(f'{n}="{value}"' for n, value in variables.items() if value)
    # An editor gives the user, and the group that is the user's own, the numbers of yours.
    dockerfile = f"""\
# {subject.name}, in an image that an editor can work in.
FROM {subject.image.names[0]} AS theano
FROM {BASE}
COPY --from=theano {PREFIX} {PREFIX}
COPY --from=theano {ENTRY} {ENTRY}
RUN useradd --uid {UID} --user-group --create-home --shell /bin/bash {USER} \\
    && install --directory --owner {USER} {WORK}
ENV {environment}
WORKDIR {WORK}
"""
    usage = (
        f"./invoke build {subject.variant.option} --to docker\n"
        'then open {to} in the editor, and choose "Reopen in Container"'
    )
    files = {
        ".devcontainer/devcontainer.json": json.dumps(content, indent=2, ensure_ascii=False) + "\n",
        ".devcontainer/Dockerfile": dockerfile,
    }
    return Export(files, usage)


def as_apptainer(subject: Subject) -> Export:
    """Return a definition file for Apptainer and Singularity: it needs no engine."""
    text = f"""\
# {subject.name}
Bootstrap: oci-archive
From: {subject.image.file_name}

%environment
    # The user's home is mounted, with packages for other Pythons in it.
    export PYTHONNOUSERSITE=1

%runscript
    exec {ENTRY} "$@"
"""
    nvidia = " --nv" if subject.variant.device == "cuda" else ""
    usage = (
        f"./invoke build {subject.variant.option} --to oci && apptainer build {subject.name}.sif "
        f"{{to}} && apptainer run{nvidia} {subject.name}.sif python train.py"
    )
    return Export({f"{subject.name}.def": text}, usage)


def as_compose(subject: Subject) -> Export:
    """Return a compose.yaml with the image as a service.

    The container runs as the user who exports it, so that its results can be written; RUN_AS in the
    environment names another one (bash and zsh refuse to set UID).
    """
    service: dict[str, Any] = {
        "image": subject.image.names[0],
        # The image's own user may not write into the user's folder.
        "user": f"${{RUN_AS:-{os.getuid()}:{os.getgid()}}}",
        "working_dir": str(WORK),
        "volumes": [{"type": "bind", "source": ".", "target": str(WORK)}],
    }
    if subject.variant.device == "cuda":
        gpus = {"driver": "nvidia", "count": "all", "capabilities": ["gpu"]}
        service["deploy"] = {"resources": {"reservations": {"devices": [gpus]}}}
    name = subject.variant.framework.module
    text = yaml.safe_dump({"services": {name: service}}, sort_keys=False)
    usage = (
        f"./invoke build {subject.variant.option} --to docker && "
        f"docker compose -f {{to}} run --rm {name} python train.py"
    )
    return Export({"compose.yaml": f"# {subject.summary}.\n{text}"}, usage)


def as_modulefile(subject: Subject) -> Export:
    """Return a module file in Tcl for Environment Modules and Lmod.

    It sets PATH, and the variables of a stack.yaml unless they are set: the environment's Python
    reads its settings by itself, however it is started. One environment is loaded at a time:
    unloading the second of two would take the variables of the first.
    """
    prefix = str(subject.environment)
    lines = [
        "#%Module1.0",
        f"module-whatis {_tcl_word(subject.summary)}",
        # Before 5.1, Environment Modules have no families.
        'if {[info commands family] ne ""} {family theano_stacks}',
        f"prepend-path PATH {_tcl_word(f'{prefix}/bin')}",
        *(f"unsetenv {name}" for name in surroundings.OTHER_PYTHON),
        *(f"setenv {k} {_tcl_word(v)}" for k, v in own_variables(subject.environment).items()),
    ]
    for name, value in subject.variant.exported(subject.environment).items():
        word = _tcl_word(value)
        # The module's own is set when it is unloaded.
        lines.append(
            f"if {{![info exists env({name})] || $env({name}) eq {word}}} {{setenv {name} {word}}}"
        )
    usage = (
        f"./invoke build {subject.variant.option} && module use {{folder}} && module load {{name}}"
    )
    return Export({subject.name: "\n".join(lines) + "\n"}, usage)


def _tcl_word(text: str) -> str:
    return '"' + re.sub(r'([\\"$\[\]{}])', r"\\\1", text) + '"'


def as_kernelspec(subject: Subject) -> Export:
    """Return the kernel.json that `./invoke kernel` installs for Jupyter."""
    variant, target = subject.variant, subject.environment
    locked = any(pin.name == "ipykernel" for pin in subject.lock.requirements)
    own = locked or kernel.has_own(variant, target)
    text = kernel.spec_text(variant, kernel.command(target, own=own), target)
    # The ipykernel that it starts is installed with it.
    usage = f"./invoke build {variant.option} && ./invoke kernel {variant.option}"
    return Export({"kernel.json": text}, usage)


FORMS: Mapping[str, Callable[[Subject], Export]] = {
    "conda-lock": packages.as_conda_lock,
    "environment": packages.as_environment,
    "pixi": packages.as_pixi,
    "pylock": packages.as_pylock,
    "requirements": packages.as_requirements,
    "devcontainer": as_devcontainer,
    "apptainer": as_apptainer,
    "modulefile": as_modulefile,
    "easyconfig": packages.as_easyconfig,
    "kernelspec": as_kernelspec,
    "compose": as_compose,
}
# Forms that no variant has for which pip installs something, and why.
WITHOUT_PIP = {
    "conda-lock": "an entry of pip in a conda-lock.yml needs an address of the package index",
    "pixi": "a pixi.toml has no hashes for files of the package index",
}
PIP_ONLY = ("pylock", "requirements")
# Apptainer 1.4 writes an image's variables into a script, whose shell changes or runs these.
EXPANDED = re.compile(r'["\\$`]')
OF_IMAGES = ("devcontainer", "apptainer", "compose")


def export(subject: Subject, name: str) -> Export:
    """Return a variant in the form of a name; UsageError if it cannot have that form."""
    variant, pins = subject.variant, [pin.name for pin in subject.lock.requirements]
    reason, other = "", "environment"
    if name in WITHOUT_PIP and pins:
        reason = f"pip installs {', '.join(pins)}, and {WITHOUT_PIP[name]}"
    elif name in PIP_ONLY and (conda := _conda_packages(subject)):
        reason = f"{', '.join(conda)}: conda packages, which the Python package index lacks"
    elif name in PIP_ONLY and variant.variables:
        reason = f"{', '.join(variant.variables)}: variables, which pip cannot set"
    elif name == "pylock" and variant.framework.python == "2.7":
        reason, other = "no installer of Python 2.7 reads it", "requirements"
    elif name in OF_IMAGES and variant.channel:
        reason = "an image's name cannot have the `@` of another channel's packages"
    elif name == "apptainer" and (
        changed := [n for n, v in subject.image.environment.items() if EXPANDED.search(v)]
    ):
        characters = "double quotes, dollars, backslashes or backquotes"
        reason, other = (
            f"{', '.join(changed)}: Apptainer changes values with {characters}",
            "compose",
        )
    if reason:
        raise UsageError(
            f"{variant.id} is not available as {name}",
            found=reason,
            fix=f"--as {other} has all of it",
        )
    return FORMS[name](subject)


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
