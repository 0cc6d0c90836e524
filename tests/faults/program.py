"""The command line in a folder of the injector's own, with a fault at a chosen moment.

program.py TASK [OPTIONS]; `FAULT_ROOT` names the folder that stands for the checkout, `FAULT_PLAN`
is a Plan as JSON. The tasks of environments and locks are the product's own; `make`, `fetch` and
`package` do single steps of them.
"""

import inspect
import json
import os
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacks.core import disk

ROOT = Path(os.environ["FAULT_ROOT"])
# All folders are found from here; the modules imported below take this value.
disk.REPOSITORY = ROOT

import invoke  # noqa: E402
from invoke.collection import Collection  # noqa: E402

from stacks.core.workspace import default_workspace  # noqa: E402
from stacks.sources import web  # noqa: E402
from stacks.tasks import channel as channel_tasks  # noqa: E402
from stacks.tasks import environments as environment_tasks  # noqa: E402
from stacks.tasks.program import Program, run_to_end  # noqa: E402
from stacks.tasks.task import task  # noqa: E402

# These are counted wherever they happen; `open` only for files of the room, so that imports do
# not count.
COUNTED = ("os.", "shutil.", "fcntl.", "tempfile.", "subprocess.", "socket.connect")


@dataclass(frozen=True)
class Plan:
    """When and how the process is struck, and how patient it is with servers.

    event: the number of the audited event, from 1; 0 for none. delay: seconds after it.
    group: also strike the processes that this one started. count_file: where the number of events
    is written. pause, timeout: seconds, at most. file_size: bytes of the largest file, 0 for any.
    """

    event: int = 0
    delay: float = 0.0
    signal: int = 9
    group: bool = False
    count_file: str = ""
    pause: float = 60.0
    timeout: float = 0.0
    file_size: int = 0


class Injector:
    """Counts audited events and strikes at one of them."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.count, self.process = plan, 0, os.getpid()

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if os.getpid() != self.process or not self._counts(event, arguments):
            return
        self.count += 1
        if self.count != self.plan.event:
            return
        if self.plan.delay:
            timer = threading.Timer(self.plan.delay, self._strike)
            timer.daemon = True
            timer.start()
        else:
            self._strike()

    def _counts(self, event: str, arguments: tuple[Any, ...]) -> bool:
        if event == "open":
            return str(arguments[0]).startswith(str(ROOT.parent))
        return event.startswith(COUNTED)

    def _strike(self) -> None:
        if self.plan.group:
            os.killpg(os.getpgrp(), self.plan.signal)
        else:
            os.kill(self.process, self.plan.signal)


@task(protects=("build", "cache"))
def make(variant: str, repair: bool = False) -> None:
    """Make an environment, as `build` does, without the verification."""
    from stacks.environments.make import build as pipeline
    from stacks.variants.load import load_variant

    workspace = default_workspace()
    options: dict[str, Any] = {"repair": True} if repair else {}
    print(pipeline.make_environment(workspace, load_variant(workspace, variant), **options))


@task(protects=("cache",))
def fetch(pins: str) -> None:
    """Fetch the pinned files that a JSON file lists."""
    from stacks.sources.fetch import fetch
    from stacks.sources.pins import DebPin, IndexPin

    chosen = [
        (DebPin if "suite" in pin else IndexPin)(**pin)
        for pin in json.loads(Path(pins).read_text())
    ]
    for path in fetch(default_workspace(), chosen).values():
        print(path)


@task(protects=("cache",))
def package(name: str) -> None:
    """Build a package of the channel."""
    from stacks.channel import build as package_builds
    from stacks.channel.candidates import read_channel

    channel = read_channel(default_workspace())
    candidates = [o for o in channel.candidates.values() if o.recipe.package.name == name]
    packages = package_builds.build_packages(default_workspace(), channel, candidates, quiet=True)
    for built in packages.values():
        print(built.path)


def be_impatient(plan: Plan) -> None:
    """Shorten waits for servers, so that a trial takes seconds."""
    from stacks.sources import download

    pause = download.pause
    download.pause = lambda stop, seconds: pause(stop, min(seconds, plan.pause))
    if not plan.timeout:
        return
    begin = web.Web.__init__
    names = inspect.signature(begin).parameters
    # Each limit of time that an access to servers has.
    limits = {name: plan.timeout for name in ("timeout", "grace", "patience") if name in names}

    def impatient(self: web.Web, **options: Any) -> None:
        begin(self, **{**options, **limits})

    web.Web.__init__ = impatient  # type: ignore[method-assign]


def limit_files(size: int) -> None:
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def main() -> None:
    plan = Plan(**json.loads(os.environ["FAULT_PLAN"]))
    be_impatient(plan)
    if plan.file_size:
        limit_files(plan.file_size)
    tasks = (
        make,
        fetch,
        package,
        environment_tasks.list_,
        environment_tasks.verify,
        environment_tasks.clean,
        channel_tasks.lock,
    )
    program = Program(
        name="Invoke", binary="./invoke", version=invoke.__version__, namespace=Collection(*tasks)
    )
    injector = Injector(plan)
    sys.addaudithook(injector.audit)
    try:
        run_to_end(program, ["./invoke", *sys.argv[1:]])
    finally:
        if plan.count_file:
            Path(plan.count_file).write_text(str(injector.count))


if __name__ == "__main__":
    main()
