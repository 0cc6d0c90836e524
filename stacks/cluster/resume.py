"""Answers of an interrupted invocation: the same command does not repeat their jobs."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from stacks.bench.machine import slug
from stacks.cluster.messages import Answer, Order
from stacks.core.disk import write_atomically
from stacks.core.models import Strict
from stacks.core.workspace import Workspace


class StoredAnswer(Strict):
    """An answer and the name of its worker."""

    worker: str
    answer: Answer


@dataclass(frozen=True)
class ClusterSession:
    """A folder with a file for each answer."""

    folder: Path

    def load(self, job: str) -> StoredAnswer | None:
        """Return the answer to a job, None if there is none that can be read."""
        try:
            return StoredAnswer.model_validate_json(self._file(job).read_bytes())
        except (OSError, ValidationError):
            return None

    def save(self, job: str, worker: str, answer: Answer) -> None:
        """Store an answer."""
        stored = StoredAnswer(worker=worker, answer=answer)
        write_atomically(self._file(job), stored.model_dump_json(by_alias=True))

    def remove(self) -> None:
        """Remove all answers: the next invocation starts from the beginning."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _file(self, job: str) -> Path:
        return self.folder / f"{slug(job)}-{hashlib.sha256(job.encode()).hexdigest()[:8]}.json"


def open_session(workspace: Workspace, order: Order) -> ClusterSession:
    """Return the session of an order, which covers all machines."""
    content = json.dumps(order.model_dump(mode="json"), sort_keys=True)
    digest = hashlib.sha256(content.encode()).hexdigest()
    return ClusterSession(workspace.cluster / f"session-{digest[:16]}")
