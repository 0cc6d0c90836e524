"""The main job's figures, each beside what a user would do instead, all in one run.

    .venv/bin/python measurements/readme.py

Clones the repository into a scratch folder with an empty cache, so it needs the network and some
3 GB of disk, and takes some minutes. Run it on an otherwise idle machine. The products are timed by
`./invoke bench --variants pip-default,pip-openblas --workload gemm --quick`.
"""

from __future__ import annotations

import os
import shutil
import stat
import statistics
import sys
import tempfile
import time
from pathlib import Path

from harness import REPOSITORY, line, options, run, seconds


def main() -> None:
    """Measure and print a line for each figure."""
    options(__doc__).parse_args()
    with tempfile.TemporaryDirectory(prefix="bench ") as folder:
        scratch = Path(folder)
        checkout = scratch / "checkout"
        run(["git", "clone", "--quiet", REPOSITORY, checkout])
        os.environ["THEANO_STACKS_CACHE"] = str(scratch / "cache")
        os.environ["HOME"] = str(scratch)
        build_times(checkout, scratch)
        cached_install(checkout, scratch)


def build_times(checkout: Path, scratch: Path) -> None:
    """Time the first build on an empty cache, and the builds after it."""
    invoke = checkout / "invoke"
    first = seconds(lambda: run([invoke, "build", "--variant", "pip-openblas"]))
    venv, plain_packages = scratch / "alternative", ("numpy", "scipy", "pytensor")
    plain = seconds(lambda: run([sys.executable, "-m", "venv", venv])) + seconds(
        lambda: run([venv / "bin/pip", "install", "--quiet", "--no-cache-dir", *plain_packages])
    )
    line(
        "fresh machine to verified",
        f"{first:.0f} s",
        beside=f"pip install pytensor, unverified: {plain:.0f} s ({first / plain:.1f}x)",
        aim="at most 240 s",
    )
    second = seconds(lambda: run([invoke, "build", "--variant", "openblas"]))
    line(
        "second variant, verified",
        f"{second:.0f} s",
        beside=f"the first: {first:.0f} s",
        aim="60 s",
    )
    verify = seconds(lambda: run([invoke, "verify", "--variant", "pip-openblas"]))
    line("quick verify", f"{verify:.0f} s", aim="under 60 s")


def cached_install(checkout: Path, scratch: Path) -> None:
    """Time making an environment anew when all is cached, its disk and the tool's memory."""
    prefix = checkout / "build/prefixes/theano-1.0.5/pip-openblas"
    code = (
        "import sys, time; sys.path.insert(0, sys.argv[1]);"
        "from stacks.core.workspace import default_workspace;"
        "from stacks.environments.make import build; from stacks.variants import load;"
        "w = default_workspace(); v = load.load_variant(w, 'pip-openblas');"
        "start = time.monotonic(); build.make_environment(w, v); print(time.monotonic() - start)"
    )
    python = checkout / ".venv/bin/python"
    ours = []
    for _ in range(3):
        shutil.rmtree(prefix)
        ours.append(float(run([python, "-c", code, checkout])))
    shutil.rmtree(prefix)
    usage = "; import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    memory = int(run([python, "-c", code + usage, checkout]).split()[-1])
    requirements = checkout / "envs/locks/theano-1.0.5/pip-openblas/requirements.txt"
    wheels = [p for p in (scratch / "cache/sources").rglob("*") if p.suffix in (".whl", ".gz")]
    links = scratch / "wheels"
    links.mkdir()
    for path in wheels:
        os.link(path, links / path.name)
    start = time.monotonic()
    run([prefix / "bin/python", "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
        "--no-build-isolation", "--require-hashes", "--find-links", links,
        "--target", scratch / "by-pip", "-r", requirements])  # fmt: skip
    by_pip = time.monotonic() - start
    best = statistics.median(ours)
    line(
        "install, everything cached",
        f"{best:.2f} s",
        beside=f"pip alone, from local wheels: {by_pip:.1f} s ({by_pip / best:.0f}x)",
        aim="under 1 s",
    )
    alone, whole = disk(prefix)
    line(
        "new disk for it",
        f"{alone / 1e6:.1f} MB",
        beside=f"without hard links: {whole / 1e6:.0f} MB ({whole / alone:.0f}x)",
        aim="at most 5 MB",
    )
    line("memory of the tool, cached", f"{memory / 1024:.0f} MB", aim="under 500 MB")


def disk(folder: Path) -> tuple[int, int]:
    """Return the bytes on disk that only this folder holds, and all that it shows."""
    stats = [path.lstat() for path in folder.rglob("*")]
    alone = sum(s.st_blocks * 512 for s in stats if s.st_nlink == 1 or stat.S_ISDIR(s.st_mode))
    return alone, sum(s.st_blocks * 512 for s in stats)


if __name__ == "__main__":
    main()
