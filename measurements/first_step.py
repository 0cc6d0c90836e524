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

import functools
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness import environments, options, run, save, seconds

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
        report = Path(room) / "report.json"
        for start, how in STARTS:
            words: list[str | Path] = [prefix / "bin/python", SUITE, PROGRAM]
            words += [workload, "--quiet"]
            words += ["--calls", "1", "--profile-calls", "1", "--json", report]
            words += ["--compile-folder", Path(room, how)]
            words += ["--expect", prefix / settings.EXPECTATION]
            words += ["--share-modules", modules] if how == "sharing" else []
            words += ["--keep-graphs"] if how != "untuned" else []
            quick = {"THEANO_STACKS_QUICK": "0" if how == "untuned" else "1"}
            quick |= {"PYTHONDONTWRITEBYTECODE": ""}
            found: dict[str, Any] = {"variant": variant.id, "start": start, "how": how}
            found |= {
                "workload": workload,
                "load": os.getloadavg()[0],
                "cores": len(os.sched_getaffinity(0)),
            }
            program = functools.partial(run, words, environment(prefix), **quick)
            found["process"] = seconds(program)
            cases = json.loads(report.read_text())["cases"]
            for key in ("total", "optimiser", "linker", "modules", "shared"):
                found[key] = sum(case["compile"][key] for case in cases)
            found["first_call"] = sum(case["first_call"] for case in cases)
            found["graphs"] = [case["graph"]["signature"] for case in cases]
            found["outputs"] = [case["output"] for case in cases]
            yield found


def summary(result: dict[str, Any], results: list[dict[str, Any]]) -> str:
    """Return a result as a line, beside the untuned first start of its variant."""
    shared = f", {result['shared']} of them shared" if result["how"] == "sharing" else ""
    line = (
        f"{result['variant']:<24}{result['start']:<7}{result['how']:<8}"
        f"{result['process']:8.1f} s, compiling {result['total']:.1f} "
        f"(optimiser {result['optimiser']:.1f}, linker {result['linker']:.1f}, "
        f"{result['modules']} modules{shared}), graph {' '.join(result['graphs'])}"
    )
    # The first is the first start of Theano as it is.
    if result["how"] != "untuned":
        [first, *_] = [each for each in results if each["variant"] == result["variant"]]
        line += f"; {result['process'] / first['process']:.2f} of the untuned first start"
    return line


if __name__ == "__main__":
    main()
