"""The front door: the tasks of ./invoke, which are in stacks/tasks."""

from stacks.tasks.channel import lock, pin, publish_channel, release, serve
from stacks.tasks.cluster import scheduler, worker
from stacks.tasks.environments import build, clean, list_, recommend, verify
from stacks.tasks.images import base, matrix, reproduce
from stacks.tasks.project import configure, docs, schema, test, vendor, verify_app, version
from stacks.tasks.timing import bench, compare, profile, publish, results
from stacks.tasks.use import completion, export, init, kernel, run, shell

__all__ = [
    "base",
    "bench",
    "build",
    "clean",
    "compare",
    "completion",
    "configure",
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
