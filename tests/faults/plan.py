"""When the program of a trial is struck, and how patient it is."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Plan:
    """When and how the process is struck, and how patient it is with servers.

    event: the number of the audited event, from 1; 0 for none. delay: seconds after it.
    group: also strike the processes that this one started. pause, timeout: seconds, at most.
    """

    event: int = 0
    delay: float = 0.0
    signal: int = 9
    group: bool = False
    count_file: str = ""
    pause: float = 60.0
    timeout: float = 0.0
    file_size: int = 0

    def dumps(self) -> str:
        return json.dumps(asdict(self))
