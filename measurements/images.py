"""The images' figures: sizes, times to build, how soon a container computes, and a step in it.

    .venv/bin/python measurements/images.py [--variants openblas,mkl] [--rounds 5]

Needs a container engine (DOCKER_HOST). The channel's packages must be in the cache. Run it on an
otherwise idle machine.
"""

from __future__ import annotations

import json
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from harness import REPOSITORY, in_turn, line, options, run, seconds

from stacks.core.workspace import Workspace, default_workspace
from stacks.environments.make import build as pipeline
from stacks.environments.make import packages
from stacks.environments.programs import PASSED
from stacks.image import base, layout, oci
from stacks.image import engine as engines
from stacks.image.engine import Engine
from stacks.image.metadata import config_of
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

# Of programs that compute for long and for short times in C, and in scan's loop.
WORKLOADS = (("check_blas", "--case", "2000"), ("mlp",), ("lstm",))
# Where a container begins: the time before is the engine's own.
FIRST_STEPS = """
import time
start = time.time()
import numpy, theano, theano.tensor as T
imported = time.time()
a = T.fmatrix()
total = theano.shared(numpy.zeros((3, 3), "float32"))
f = theano.function([a], [], updates=[(total, total + T.dot(a, a))])
f(numpy.ones((3, 3), "float32"))
print(imported - start, time.time() - imported)
"""


def main() -> None:
    """Measure and print a line for each figure."""
    parser = options(__doc__, rounds=5, variants="openblas,mkl")
    arguments, workspace = parser.parse_args(), default_workspace()
    engine = engines.find()
    print(engine.name, flush=True)
    for name in arguments.variants:
        variant = load_variant(workspace, name)
        packages.packages_to_install(workspace, variant, pipeline.read_lock(workspace, variant))
        base.tar(workspace)
        builds(workspace, engine, variant)
        first_steps(workspace, engine, variant, arguments.rounds)
        steps(workspace, engine, variant, arguments.rounds)


def in_container(engine: Engine, image: str, *words: str, environment: Any = None) -> bytes:
    """Return what a fresh container prints."""
    output: bytes = engine.client.containers.run(
        image, list(words), remove=True, network_mode="none", environment=environment
    )
    return output


def builds(workspace: Workspace, engine: Engine, variant: Variant) -> None:
    """Time each way to an image, and weigh it."""
    place, names = layout.layout_folder(workspace, variant), config_of(workspace, variant).names
    for left in place.parent.glob(f"{place.name}*"):
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    for existing in (*names, base.name(workspace)):
        if engine.image_id(existing):
            engine.remove_name(existing)
    laid_out = seconds(lambda: layout.lay_out(workspace, variant))
    verify = engines.verify
    engines.verify = lambda *_, **__: PASSED
    built = laid_out + seconds(lambda: engines.build(workspace, variant))
    engines.verify = verify
    line(f"{variant.name}: cold build, unverified", f"{built:.1f} s (laying out: {laid_out:.1f} s)")
    size = engine.client.images.get(names[0]).attrs["Size"]
    line(f"{variant.name}: image, uncompressed", f"{size / 1e6:.0f} MB")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "image.tar"
        written = seconds(lambda: oci.write(workspace, variant, file))
        weight = file.stat().st_size / 1e6
        line(f"{variant.name}: as an OCI file, laid out", f"{written:.1f} s, {weight:.0f} MB")


def first_steps(workspace: Workspace, engine: Engine, variant: Variant, rounds: int) -> None:
    """Time import and first Gemm in fresh containers: with the image's warm cache, and without."""
    kinds = {"warm": {}, "cold": {"THEANO_STACKS_MARCH": "native"}}
    image = config_of(workspace, variant).names[0]

    def start(kind: str) -> tuple[float, ...]:
        begun, words = time.monotonic(), ("python", "-c", FIRST_STEPS)
        output = in_container(engine, image, *words, environment=kinds[kind])
        return (*map(float, output.split()), time.monotonic() - begun)

    samples = in_turn(rounds, kinds, start)
    for at, what in enumerate(("first import", "first Gemm", "docker run of both")):
        warm, cold = (statistics.median(each[at] for each in samples[kind]) for kind in kinds)
        line(f"{variant.name}: {what}", f"{warm:.2f} s (with a cold cache: {cold:.1f} s)")


def steps(workspace: Workspace, engine: Engine, variant: Variant, rounds: int) -> None:
    """Time each case of programs in the image and outside of it, in turn."""
    prefix = pipeline.make_environment(workspace, variant)
    image = config_of(workspace, variant).names[0]
    outside = [str(prefix / "bin/python"), str(REPOSITORY / "verify"), "workload"]
    ratios: dict[str, list[float]] = {}
    for workload in WORKLOADS:
        words = [*workload, "--profile-calls", "1"]
        for _ in range(rounds):
            inner = json.loads(in_container(engine, image, "profile", *words, "--json"))
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "report.json"
                command = [*outside, *words, "--quiet", "--json", str(file)]
                run(command)
                outer = json.loads(file.read_text())
            for one, other in zip(inner["cases"], outer["cases"], strict=True):
                ratio = statistics.median(one["seconds"]) / statistics.median(other["seconds"])
                ratios.setdefault(f"{workload[0]} {one['name']}", []).append(ratio)
    for case, found in ratios.items():
        line(
            f"{variant.name}: {case}, inside by outside",
            f"{statistics.median(found):.3f} ({min(found):.3f} to {max(found):.3f})",
        )


if __name__ == "__main__":
    main()
