"""What an invocation that was cut short has finished: the same command does not do it again."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from stacks.bench.machine import slug
from stacks.cluster.messages import Answer, Order
from stacks.core.disk import write_whole
from stacks.core.models import Strict
from stacks.core.workspace import Workspace


class StoredAnswer(Strict):
    """An answer and who gave it."""

    worker: str
    answer: Answer


@dataclass(frozen=True)
class ClusterSession:
    """A folder with a file for each answer."""

    folder: Path

    def kept(self, job: str) -> StoredAnswer | None:
        """Return what was kept of a job; what cannot be read counts as not there."""
        try:
            return StoredAnswer.model_validate_json(self._file(job).read_bytes())
        except (OSError, ValidationError):
            return None

    def keep(self, job: str, worker: str, answer: Answer) -> None:
        """Keep an answer."""
        kept = StoredAnswer(worker=worker, answer=answer)
        write_whole(self._file(job), kept.model_dump_json(by_alias=True))

    def finish(self) -> None:
        """Forget all: the next invocation begins anew."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _file(self, job: str) -> Path:
        return self.folder / f"{slug(job)}-{hashlib.sha256(job.encode()).hexdigest()[:8]}.json"


def open_session(
    workspace: Workspace,
    order: Order,
) -> ClusterSession:
    """Return the session of all that an invocation asks for, over all machines."""
    content = json.dumps(order.model_dump(mode="json"), sort_keys=True)
    return ClusterSession(
        workspace.cluster / f"session-{hashlib.sha256(content.encode()).hexdigest()[:16]}"
    )
