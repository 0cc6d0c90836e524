"""The front door: the tasks of ./invoke, which are in stacks/tasks.

An `invoke` that was installed alone lacks what the tasks need. It goes on as ./invoke, with the
same words.
"""

# The imports of stacks need .venv, so they come after the check.
# ruff: noqa: E402

import importlib.util
import os
import sys
from pathlib import Path

# ./invoke itself starts Python with -c. Every task needs pydantic.
started = Path(sys.argv[0])
is_invoke = started.name in ("invoke", "inv") or started.parts[-2:] == ("invoke", "__main__.py")
if is_invoke and importlib.util.find_spec("pydantic") is None:
    script = Path(__file__).resolve().with_name("invoke")
    os.execv("/bin/sh", ["sh", str(script), *sys.argv[1:]])  # noqa: S606

from stacks.tasks.channel import lock, matrix, pin, publish_channel, release, reproduce, serve
from stacks.tasks.environments import build, clean, list_, recommend, verify
from stacks.tasks.project import docs, schema, test, vendor, verify_app, version
from stacks.tasks.timing import bench, compare, profile, publish, results
from stacks.tasks.use import export, init, kernel, run, scheduler, shell, worker

__all__ = [
    "bench",
    "build",
    "clean",
    "compare",
    "docs",
    "export",
    "init",
    "kernel",
    "list_",
    "lock",
    "matrix",
    "pin",
    "profile",
    "publish",
    "publish_channel",
    "recommend",
    "release",
    "reproduce",
    "results",
    "run",
    "scheduler",
    "schema",
    "serve",
    "shell",
    "test",
    "vendor",
    "verify",
    "verify_app",
    "version",
    "worker",
]
