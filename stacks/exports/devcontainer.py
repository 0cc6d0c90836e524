"""A development container of the variant's image: .devcontainer/devcontainer.json.

The Development Containers Specification, devcontainer.json.
"""

from __future__ import annotations

import json
from typing import Any

from stacks.exports.subject import Export, Subject, require_image
from stacks.image.config import PREFIX, USER, WORK


def export(subject: Subject) -> Export:
    """Return a devcontainer.json; UsageError if the variant has no image."""
    python = {"python.defaultInterpreterPath": f"{PREFIX}/bin/python"}
    content: dict[str, Any] = {
        "name": subject.name,
        "image": require_image(subject, "devcontainer"),
        "workspaceMount": f"source=${{localWorkspaceFolder}},target={WORK},type=bind",
        "workspaceFolder": str(WORK),
        "remoteUser": USER,
        "customizations": {"vscode": {"extensions": ["ms-python.python"], "settings": python}},
    }
    if subject.variant.device == "cuda":
        content |= {"hostRequirements": {"gpu": True}, "runArgs": ["--gpus", "all"]}
    usage = f"./invoke build {subject.variant.option} --to docker, then open {{to}} in the editor"
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    return Export({".devcontainer/devcontainer.json": text}, usage)
