"""The key of an environment: the hash of all that it is made from.

An edit of this program changes no key: what it writes differently has a higher REVISION.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from stacks.core.workspace import Workspace
from stacks.locks.lock import Lock
from stacks.variants.variant import Variant

# Raised when an environment gets other settings, records or scripts than before, or when packages
# are installed in another way: then what was built before is built again.
REVISION = 1


def key_of(workspace: Workspace, variant: Variant, lock: Lock, target: Path) -> str:
    """Return the key of a variant's environment in the folder `target`."""
    unlocked = []
    if variant.channel:
        # Loaded here: the stages of packages take longer than all else that most tasks load.
        from stacks.environments.make import own_channel

        unlocked = [offer.hash for offer in own_channel.offers(workspace, variant)]
    asked = variant.model_dump_json(exclude={"summary": True, "framework": {"summary"}})
    inputs = [REVISION, lock.sha256, lock.channel, unlocked, asked, str(target)]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()
