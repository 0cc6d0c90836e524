"""What a published channel is worth: an environment from its packages, and from the sources.

    .venv/bin/python measurements/places.py [--variants openblas,pip-openblas] [--rounds 3]
        [--folder /dev/shm]

From an empty cache to a linked environment, without its verification and without the tools. In a
round each variant is made from the sources, as your mirrors and index have them, and from a channel
on this machine, in turn. Each figure is the least of its rounds: seconds, processor seconds of all
processes, and the ratio of the two ways. Takes two minutes a round. In --folder are the caches and
environments: by default the user's cache. In memory the file system costs least: an ext4 without a
journal takes up to ten times as long for a new file while files were deleted in the last minutes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness import REPOSITORY, answer, options

from stacks.channel.candidates import read_channel
from stacks.core.workspace import Workspace, default_workspace
from stacks.environments.make.build import make_environment
from stacks.environments.make.pip_install import link_or_copy
from stacks.environments.use.serve import server_of, write_channel
from stacks.locks.solution import entries_of, packages_of
from stacks.sources.places import CHANNEL
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

WAYS = ("sources", "channel")
# A machine's own choice of a library's kernels and what it compiled before are not the subject.
UNSET = ("OPENBLAS_CORETYPE", "BLIS_ARCH_TYPE", "THEANO_STACKS_VENDOR")


@contextmanager
def published(variants: list[Variant], room: Path) -> Iterator[str]:
    """Serve the packages of some variants; those that the user's cache lacks are made first."""
    workspace = default_workspace()
    channel = read_channel(workspace)
    entries = entries_of(workspace, channel, variants)
    write_channel(room, entries)
    for path, file in packages_of(workspace, channel, entries).items():
        link_or_copy(file, room / path)
    with server_of(room, 0) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://localhost:{server.server_port}/theano-stacks"
        server.shutdown()


def measure(variant: str, way: str, address: str, room: Path) -> tuple[float, float]:
    """Return the seconds and processor seconds of an environment in a process of its own."""
    variables = {name: value for name, value in os.environ.items() if name not in UNSET}
    words = [sys.executable, __file__, "--make", variant, "--way", way, "--room", str(room)]
    seconds, processor = answer(words, variables, **{CHANNEL: address})
    shutil.rmtree(room)
    return seconds, processor


def make(variant: str, way: str, room: Path) -> None:
    """Make an environment with an empty cache and print what that cost."""
    workspace = Workspace(REPOSITORY, room / "cache")
    start = time.monotonic()
    make_environment(
        workspace, load_variant(workspace, variant), room / "prefix", from_sources=way == "sources"
    )
    seconds = time.monotonic() - start
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(json.dumps([seconds, sum(each.ru_utime + each.ru_stime for each in used)]))


def show_times(variants: list[str], rounds: int, parent: Path) -> None:
    """Measure the variants in turn, in a folder of `parent`, and print a line for each."""
    workspace = default_workspace()
    chosen = [load_variant(workspace, name) for name in variants]
    figures: dict[tuple[str, str], list[tuple[float, float]]] = {}
    with (
        tempfile.TemporaryDirectory(dir=parent) as folder,
        published(chosen, Path(folder) / "published") as address,
    ):
        for _, name, way in itertools.product(range(rounds), variants, WAYS):
            figure = measure(name, way, address, Path(folder) / "room")
            figures.setdefault((name, way), []).append(figure)
    for name in variants:
        least = {
            way: [min(column) for column in zip(*figures[name, way], strict=True)] for way in WAYS
        }
        ratio = [b / a for a, b in zip(least["sources"], least["channel"], strict=True)]
        print(
            f"{name}: {least['sources'][0]:.1f} s from sources, {least['channel'][0]:.1f} s from "
            f"a channel: {ratio[0]:.2f}; processor {least['sources'][1]:.1f} s and "
            f"{least['channel'][1]:.1f} s: {ratio[1]:.2f}; load {os.getloadavg()[0]:.1f}"
        )


def main() -> None:
    """Measure and print, or make one environment for that."""
    parser = options(__doc__, rounds=3, variants="openblas,pip-openblas")
    parser.add_argument("--folder", type=Path, default=default_workspace().cache)
    parser.add_argument("--make", help=argparse.SUPPRESS)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--room", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make:
        make(arguments.make, arguments.way, arguments.room)
        return
    show_times(arguments.variants, arguments.rounds, arguments.folder)


if __name__ == "__main__":
    main()
