"""Time to the first step: how long a person waits from the start of a program to its first result.

    .venv/bin/python measurements/first_step.py [--variants openblas,theano-0.8.2/openblas]
        [--workload ntm] [--json first-step.json]

For each variant, each in a process and a compile folder of its own: a first start (nothing
compiled) and a second one, of Theano as it is (THEANO_STACKS_QUICK=0) and as the environments have
it, with graphs kept (theano_stacks_cache). Modules are shared with no other environment in these;
`sharing` is one more first start, in which they are: with the variants before it in the same run,
itself included where it is named twice. The variants must be built. Run it on an otherwise idle
machine; the order is: first start as it is, tuned, sharing; second start as it is, tuned.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import environments, options, save

from stacks.environments.make import settings
from stacks.environments.programs import SUITE, environment
from stacks.profiles.run import PROGRAM
from stacks.variants.variant import Variant

STARTS = (
    ("first", "untuned"),
    ("first", "tuned"),
    ("first", "sharing"),
    ("second", "untuned"),
    ("second", "tuned"),
)


def main() -> None:
    """Measure, print a line for each start, write the JSON after each."""
    parser = options(__doc__, variants="openblas")
    parser.add_argument("--workload", default="ntm")
    parser.add_argument("--json", type=Path, help="the results, written after each start")
    arguments = parser.parse_args()
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="modules-") as modules:
        for variant, prefix in environments(arguments.variants).values():
            for result in measure(variant, prefix, Path(modules), arguments.workload):
                results.append(result)
                print(summary(result, results), flush=True)
                save(arguments.json, results)


def measure(
    variant: Variant, prefix: Path, modules: Path, workload: str
) -> Iterator[dict[str, Any]]:
    """Yield the result of each start, the kind of which its process's settings decide."""
    with tempfile.TemporaryDirectory(prefix="first-step-") as room:
        for start, how in STARTS:
            words: list[str | Path] = [prefix / "bin/python", SUITE, PROGRAM, workload]
            # It prints a line after the first result. Users' functions have no profile.
            words += ["--stay", "--profile-calls", "0"]
            words += ["--compile-folder", Path(room, how)]
            words += ["--expect", prefix / settings.EXPECTATION]
            words += ["--share-modules", modules] if how == "sharing" else []
            words += ["--keep-graphs"] if how != "untuned" else []
            quick = {"THEANO_STACKS_QUICK": "0" if how == "untuned" else "1"}
            quick |= {"PYTHONDONTWRITEBYTECODE": ""}
            seconds, cases = first_result(words, {**environment(prefix), **quick})
            yield {
                "variant": variant.id,
                "start": start,
                "how": how,
                "workload": workload,
                "load": os.getloadavg()[0],
                "cores": len(os.sched_getaffinity(0)),
                "seconds": seconds,
                "compile": sum(case["compile"]["seconds"] for case in cases),
                "modules": sum(case["compile"]["modules"] for case in cases),
                "graphs": [case["graph"]["signature"] for case in cases],
            }


def first_result(
    words: Sequence[str | Path], variables: Mapping[str, str]
) -> tuple[float, list[dict[str, Any]]]:
    """Start a workload; return the seconds until its first result, and what it then says of it."""
    begun = time.monotonic()
    pipe = subprocess.PIPE
    with subprocess.Popen(words, env=variables, stdin=pipe, stdout=pipe) as process:
        assert process.stdin and process.stdout
        line = process.stdout.readline()
        seconds = time.monotonic() - begun
        process.stdin.close()
    if not line or process.returncode:
        sys.exit(f"{' '.join(map(str, words))}: exit status {process.returncode}")
    return seconds, json.loads(line)["ready"]


def summary(result: dict[str, Any], results: list[dict[str, Any]]) -> str:
    """Return a result as a line, beside the untuned first start of its variant."""
    line = (
        f"{result['variant']:<24}{result['start']:<7}{result['how']:<8}"
        f"{result['seconds']:8.1f} s, compiling {result['compile']:.1f} "
        f"({result['modules']} modules), graph {' '.join(result['graphs'])}"
    )
    # The first is the first start of Theano as it is.
    if result["how"] != "untuned":
        [first, *_] = [each for each in results if each["variant"] == result["variant"]]
        line += f"; {result['seconds'] / first['seconds']:.2f} of the untuned first start"
    return line


if __name__ == "__main__":
    main()
