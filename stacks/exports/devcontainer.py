"""A development container with the variant: .devcontainer/devcontainer.json and a Dockerfile.

The Development Containers Specification, devcontainer.json.
"""

from __future__ import annotations

import json
from typing import Any

from stacks.exports.subject import Export, Subject, require_image
from stacks.image.config import ENTRY, GID, HOME, PREFIX, UID, USER, WORK

# Debian 12 with git and ps, and the libraries of the server that an editor starts in it. The
# variant's image has none of them.
BASE = "buildpack-deps:bookworm-scm"
DOCKERFILE = """\
# {title}, in an image that an editor can work in.
FROM {image} AS theano
FROM {base}
COPY --from=theano {prefix} {prefix}
COPY --from=theano {entry} {entry}
RUN useradd --uid {uid} --gid {gid} --create-home --home-dir {home} --shell /bin/bash {user} \\
    && mkdir -m 775 {work}
ENV {environment}
WORKDIR {work}
"""


def export(subject: Subject) -> Export:
    """Return the two files; UsageError if the variant has no image."""
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
    dockerfile = DOCKERFILE.format(
        title=subject.name,
        image=require_image(subject, "devcontainer"),
        base=BASE,
        prefix=PREFIX,
        entry=ENTRY,
        uid=UID,
        gid=GID,
        home=HOME,
        user=USER,
        work=WORK,
        environment=" ".join(f'{n}="{value}"' for n, value in subject.image.environment.items()),
    )
    usage = f"./invoke build {subject.variant.option} --to docker, then open {{to}} in the editor"
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    return Export(
        {".devcontainer/devcontainer.json": text, ".devcontainer/Dockerfile": dockerfile}, usage
    )
