"""The main job's figures, each beside what a user would do instead, all in one run.

    .venv/bin/python measurements/readme.py [--rounds 5]

Clones the repository into a scratch folder with an empty cache, so it needs the network and some
3 GB of disk, and takes about ten minutes. Run it on an otherwise idle machine.
"""

from __future__ import annotations

import argparse
import os
import shutil
import stat
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
FRAMEWORKS = ("theano-0.8.2", "theano-1.0.5")
GEMM = """
import sys, time
import numpy, theano, theano.tensor as T
dtype = sys.argv[1]
a, b = T.matrix(dtype=dtype), T.matrix(dtype=dtype)
f = theano.function([a, b], T.dot(a, b))
x = numpy.random.RandomState(0).rand(2000, 2000).astype(dtype)
f(x, x)
start = time.time()
for _ in range(4):
    f(x, x)
print(4 * 2 * 2000.0 ** 3 / (time.time() - start) / 1e9)
"""


def main() -> None:
    """Measure and print a line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="of each Gemm, interleaved")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="bench ") as folder:
        scratch = Path(folder)
        checkout = scratch / "checkout"
        run("git", "clone", "--quiet", REPOSITORY, checkout)
        os.environ["THEANO_STACKS_CACHE"] = str(scratch / "cache")
        os.environ["HOME"] = str(scratch)
        build_times(checkout, scratch)
        cached_install(checkout, scratch)
        for framework in FRAMEWORKS:
            for dtype in ("float64", "float32"):
                gemm(checkout, framework, dtype, rounds)


def run(*command: str | Path, env: dict[str, str] | None = None) -> str:
    """Run a command quietly; on failure print its output and stop."""
    done = subprocess.run(
        [str(c) for c in command], env=env, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{command}\n{done.stdout}{done.stderr}")
    return done.stdout


def seconds(*command: str | Path) -> float:
    """Return how long a command takes, in seconds."""
    start = time.monotonic()
    run(*command)
    return time.monotonic() - start


def line(figure: str, ours: str, alternative: str, aim: str) -> None:
    """Print one figure."""
    print(f"{figure:<34} {ours:<26} {alternative:<46} aim: {aim}", flush=True)


def build_times(checkout: Path, scratch: Path) -> None:
    """Time the first build on an empty cache, and the builds after it."""
    invoke = checkout / "invoke"
    first = seconds(invoke, "build", "--variant", "pip-openblas")
    venv = scratch / "alternative"
    plain = seconds(sys.executable, "-m", "venv", venv) + seconds(
        venv / "bin/pip", "install", "--quiet", "--no-cache-dir", "numpy", "scipy", "pytensor"
    )
    line(
        "fresh machine to verified",
        f"{first:.0f} s",
        f"pip install pytensor, unverified: {plain:.0f} s ({first / plain:.1f}x)",
        "at most 240 s",
    )
    second = seconds(invoke, "build", "--variant", "openblas")
    line("second variant, verified", f"{second:.0f} s", f"the first: {first:.0f} s", "60 s")
    verify = seconds(invoke, "verify", "--variant", "pip-openblas")
    line("quick verify", f"{verify:.0f} s", "none", "under 60 s")
    for framework in FRAMEWORKS:
        for variant in ("pip-default", "pip-openblas"):
            run(invoke, "build", "--variant", variant, "--framework", framework)


def cached_install(checkout: Path, scratch: Path) -> None:
    """Time making an environment anew when all is cached, its disk and the tool's memory."""
    prefix = checkout / "build/prefixes/theano-1.0.5/pip-openblas"
    code = (
        "import sys, time; sys.path.insert(0, sys.argv[1]);"
        "from stacks.core.workspace import default_workspace;"
        "from stacks.environments import build; from stacks.variants import load;"
        "w = default_workspace(); v = load.load_variant(w, 'pip-openblas');"
        "start = time.monotonic(); build.make_environment(w, v); print(time.monotonic() - start)"
    )
    python = checkout / ".venv/bin/python"
    ours = []
    for _ in range(3):
        shutil.rmtree(prefix)
        ours.append(float(run(python, "-c", code, checkout)))
    shutil.rmtree(prefix)
    done = subprocess.run(
        [python, "-c", code + "; import resource;"
         "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)", checkout],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    memory = int(done.stdout.split()[-1])
    requirements = checkout / "envs/locks/theano-1.0.5/pip-openblas/requirements.txt"
    wheels = [p for p in (scratch / "cache/sources").rglob("*") if p.suffix in (".whl", ".gz")]
    links = scratch / "wheels"
    links.mkdir()
    for path in wheels:
        os.link(path, links / path.name)
    start = time.monotonic()
    run(prefix / "bin/python", "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
        "--no-build-isolation", "--require-hashes", "--find-links", links,
        "--target", scratch / "by-pip", "-r", requirements)  # fmt: skip
    by_pip = time.monotonic() - start
    best = statistics.median(ours)
    line(
        "install, everything cached",
        f"{best:.2f} s",
        f"pip alone, from local wheels: {by_pip:.1f} s ({by_pip / best:.0f}x)",
        "under 1 s",
    )
    alone, whole = disk(prefix)
    line(
        "new disk for it",
        f"{alone / 1e6:.1f} MB",
        f"without hard links: {whole / 1e6:.0f} MB ({whole / alone:.0f}x)",
        "at most 5 MB",
    )
    line("memory of the tool, cached", f"{memory / 1024:.0f} MB", "none", "under 500 MB")


def disk(folder: Path) -> tuple[int, int]:
    """Return the bytes on disk that only this folder holds, and all that it shows."""
    stats = [path.lstat() for path in folder.rglob("*")]
    alone = sum(s.st_blocks * 512 for s in stats if s.st_nlink == 1 or stat.S_ISDIR(s.st_mode))
    return alone, sum(s.st_blocks * 512 for s in stats)


def gemm(checkout: Path, framework: str, dtype: str, rounds: int) -> None:
    """Compare Theano's dot at 2000 between the baseline and pip-openblas, turn by turn."""
    samples: dict[str, list[float]] = {"pip-default": [], "pip-openblas": []}
    for _ in range(rounds):
        for variant, found in samples.items():
            python = checkout / "build/prefixes" / framework / variant / "bin/python"
            found.append(float(run(python, "-c", GEMM, dtype)))
    slow, fast = (statistics.median(samples[name]) for name in ("pip-default", "pip-openblas"))
    line(
        f"Gemm {dtype}, {framework}",
        f"{fast:.1f} GFLOP/s",
        f"pip-default: {slow:.1f} GFLOP/s ({fast / slow:.2f}x)",
        "2.2x in float64",
    )


if __name__ == "__main__":
    main()
