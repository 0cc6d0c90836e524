"""A file for Docker Compose, with the variant's image as a service.

The Compose Specification.
"""

from __future__ import annotations

import os
from typing import Any

import yaml

from stacks.exports.subject import Export, Subject, require_image
from stacks.image.config import WORK


def export(subject: Subject) -> Export:
    """Return a compose.yaml; UsageError if the variant has no image.

    The container runs as the user who exports it, so that its results can be written; UID and GID
    in the environment name another one.
    """
    user, group = os.getuid(), os.getgid()
    service: dict[str, Any] = {
        "image": require_image(subject, "compose"),
        # The image's own user may not write into the user's folder.
        "user": f"${{UID:-{user}}}:${{GID:-{group}}}",
        "working_dir": str(WORK),
        "volumes": [{"type": "bind", "source": ".", "target": str(WORK)}],
    }
    if subject.variant.device == "cuda":
        gpus = {"driver": "nvidia", "count": "all", "capabilities": ["gpu"]}
        service["deploy"] = {"resources": {"reservations": {"devices": [gpus]}}}
    name = subject.variant.framework.module
    text = f"# {subject.summary}.\n" + yaml.safe_dump(
        {"services": {name: service}}, sort_keys=False
    )
    usage = (
        f"./invoke build {subject.variant.option} --to docker && "
        f"docker compose -f {{to}} run --rm {name} python train.py"
    )
    return Export({"compose.yaml": text}, usage)
