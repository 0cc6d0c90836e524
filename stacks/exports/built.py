"""The forms for what `build` makes: an image or an environment, as other tools start it.

Sources: the Development Containers Specification (devcontainer.json), Apptainer's user guide
("Definition Files"), the Compose Specification, and modulefile(4) of Environment Modules.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

import yaml

from stacks.environments.programs import own_variables
from stacks.environments.use import kernel
from stacks.exports.subject import Export, Subject
from stacks.image.metadata import ENTRY, GID, HOME, PREFIX, UID, USER, WORK
from stacks.image.oci import file_name
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
    environment = " ".join(f'{n}="{value}"' for n, value in subject.image.environment.items())
    dockerfile = f"""\
# {subject.name}, in an image that an editor can work in.
FROM {subject.image.names[0]} AS theano
FROM {BASE}
COPY --from=theano {PREFIX} {PREFIX}
COPY --from=theano {ENTRY} {ENTRY}
RUN useradd --uid {UID} --gid {GID} --create-home --home-dir {HOME} --shell /bin/bash {USER} \\
    && mkdir -m 775 {WORK}
ENV {environment}
WORKDIR {WORK}
"""
    usage = f"./invoke build {subject.variant.option} --to docker, then open {{to}} in the editor"
    files = {
        ".devcontainer/devcontainer.json": json.dumps(content, indent=2, ensure_ascii=False) + "\n",
        ".devcontainer/Dockerfile": dockerfile,
    }
    return Export(files, usage)


def as_apptainer(subject: Subject) -> Export:
    """Return a definition file for Apptainer and Singularity: it needs no engine."""
    # Without its tag, the bill of materials beside the image could be meant as well.
    image = f"{file_name(subject.image)}:{subject.image.tags[0]}"
    text = f"""\
# {subject.name}
Bootstrap: oci-archive
From: {image}

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

    The container runs as the user who exports it, so that its results can be written; UID and GID
    in the environment name another one.
    """
    service: dict[str, Any] = {
        "image": subject.image.names[0],
        # The image's own user may not write into the user's folder.
        "user": f"${{UID:-{os.getuid()}}}:${{GID:-{os.getgid()}}}",
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

    It names PATH only: the environment's Python reads its settings by itself, however it is
    started.
    """
    prefix = str(subject.environment)
    lines = [
        "#%Module1.0",
        f"module-whatis {_tcl_word(subject.summary)}",
        f"prepend-path PATH {_tcl_word(f'{prefix}/bin')}",
        *(f"unsetenv {name}" for name in surroundings.dropped() if name.startswith("PYTHON")),
        *(f"setenv {k} {_tcl_word(v)}" for k, v in own_variables(subject.environment).items()),
    ]
    usage = (
        f"./invoke build {subject.variant.option}; with {{to}} in a folder of MODULEPATH: "
        "module load {name}"
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
    usage = f"./invoke kernel {variant.option} installs it, and the ipykernel that it starts"
    return Export({"kernel.json": text}, usage)
