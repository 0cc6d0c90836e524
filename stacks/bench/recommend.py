"""The flavour for this processor or program: by timing, or by stored results.

A stack.yaml is timed on every flavour that fits. PATH/stack.build/flavours/FLAVOUR/stack.yaml is
the copy with another `extends`; it has its lock and environment beside it, like any other.
"""

import json
import sys
from collections.abc import Sequence

from stacks.bench import command as bench_command
from stacks.bench import rows as bench_rows
from stacks.bench import store, user_program
from stacks.bench.candidates import verified_candidates
from stacks.bench.intervals import number
from stacks.bench.result import Machine, describe_machine
from stacks.bench.rows import winners
from stacks.bench.schedule import QUICK_ROUNDS, BenchOptions
from stacks.core.console import as_typed, display_path, plural
from stacks.core.disk import write_atomically
from stacks.core.errors import UsageError, VerifyError
from stacks.core.workspace import Workspace
from stacks.variants import stack
from stacks.variants.load import load_variant, on_framework
from stacks.variants.variant import Variant
from verify.core import machine

USUAL = "openblas"
MEASURE = "Gemm float64 2000"
UNKNOWN = (
    "OpenBLAS has kernels for all processors; no result with several flavours is of one like it"
)
# Measured on 16 cores of a Xeon (measurements/, Kernels); on two cores both are equal.
INTEL, MANY_CORES = "GenuineIntel", 4
TRY_MKL = "on four and more cores of Intel MKL may be 1.5 times as fast: try --variant mkl"
# Packages that do not fit leave a flavour out. Errors of the network, for one, end all.
REFUSED = (UsageError, VerifyError)


def recommend(
    workspace: Workspace, variants: Sequence[Variant], round_count: int = QUICK_ROUNDS
) -> None:
    """Time a product with the built variants of one framework on all processors; print the table.

    It names the fastest. Nothing is stored. Raises UsageError if fewer than two variants are built
    and verified.
    """
    threads = str(machine.usable_cores())
    options = BenchOptions(workload="gemm", rounds=round_count, quick=True, threads=threads)
    chosen = verified_candidates(workspace, variants)
    if len(chosen) < 2:
        raise UsageError(
            "nothing to choose from: fewer than two variants are built and verified",
            found=", ".join(c.variant.name for c in chosen) or "none",
            fix="./invoke build --variant NAME for each candidate: see ./invoke list",
        )
    bench_rows.show(bench_command.timed(workspace, chosen, options))


def recommended(
    workspace: Workspace, framework: str = "", here: Machine | None = None
) -> tuple[Variant, str]:
    """Return the flavour to build on a framework, by default the default one, and the reason.

    It is USUAL, unless results/ shows that another one is faster on a machine like `here` (by
    default this one). Raises UsageError for an unknown framework.
    """
    here = here or describe_machine([])
    usual = load_variant(workspace, USUAL, framework or None)
    # A result may have a flavour that was removed since, or one for a device.
    ours = on_framework(workspace, usual.framework.name)
    known = {variant.id: variant for variant in ours if variant.device == "cpu"}
    stored = [one.result for one in store.read_all(workspace)[0]]
    for result in sorted(stored, key=lambda result: result.began, reverse=True):
        if not result.machine.speaks_for(here):
            continue
        runs = [run for run in result.runs if run.subject in known]
        fastest = winners(runs)
        # Not the name alone, so that no figure beside busy loops counts as an idle one.
        of_measure = [measure for measure in fastest if measure.label == MEASURE]
        most = max(of_measure, key=lambda measure: measure.threads, default=None)
        figures = {
            row.subject: number(row.summary.median)
            for row in bench_rows.rows(runs, result.subjects)
            if row.measure == most
        }
        if most is None or usual.id not in figures:
            continue
        listed = ", ".join(f"{known[name].name} {figure}" for name, figure in figures.items())
        reason = f"{MEASURE}, GFLOP/s on such a machine ({result.began[:10]}): {listed}"
        return usual if usual.id in fastest[most] else known[fastest[most][0]], reason
    has_many = here.vendor == INTEL and here.cores >= MANY_CORES
    return usual, f"{UNKNOWN}; {TRY_MKL}" if has_many else UNKNOWN


def recommend_for_stack(
    workspace: Workspace,
    variant: Variant,
    command: Sequence[str],
    *,
    rounds: int = 0,
    make: bench_command.Make | None = None,
) -> None:
    """Time a program on a stack's flavours, and print the line for its stack.yaml.

    What is locked and built is used again. The stack's own lock and environment stay as they are.
    rounds: 0 for the default. Raises UsageError if the variant is no stack or fewer than two
    flavours fit, ProgramError if the program fails.
    """
    if not variant.file:
        raise UsageError(
            f"--variant {variant.name}: a flavour of the project",
            expected="the path of a stack.yaml, whose flavour is chosen",
            fix="leave out --variant: all built variants of the framework are timed then",
        )
    written = copies(workspace, variant)
    print(
        f"{plural(len(written), 'flavour')} to lock, build and verify, 1 to 3 min for each that is "
        "new; ctrl-C stops it, and the same command goes on",
        file=sys.stderr,
    )
    found = bench_command.prepare(workspace, written, REFUSED, make)
    if len(found) < 2:
        raise UsageError(
            f"{display_path(variant.file)}: nothing to choose from",
            expected="at least two flavours that its packages fit",
            found=", ".join(candidate.variant.name for candidate in found) or "none",
        )
    best = user_program.bench(found, command, rounds=rounds)
    flavours = [name.rpartition("/")[2] for name in best]
    present = stack.read(variant.file).content.extends
    file = display_path(variant.file)
    if present in flavours:
        print(f"leave {file} as it is: extends: {present}")
    else:
        print(f"put this line into {file} instead of `extends: {present}`, then lock and build it:")
        print(f"extends: {flavours[0]}")
    folder = display_path(stack.flavours_folder(variant.file))
    clean = as_typed(f"./invoke clean {variant.option}")
    print(f"the environments are in {folder}; {clean} removes them, too", file=sys.stderr)


def copies(workspace: Workspace, variant: Variant) -> list[Variant]:
    """Write the stack on each flavour for the processor but the baseline's; return them."""
    assert variant.file
    original = stack.read(variant.file)
    stack.make_build_folder(variant.file)
    content = original.content.model_dump(mode="json", exclude_unset=True)
    # A path of requirements is meant from the stack's folder.
    content.pop("requirements", None)
    written = []
    for flavour in on_framework(workspace, original.content.framework):
        if flavour.device == "cpu" and not flavour.baseline:
            content |= {"extends": flavour.name, "pip": original.requests}
            folder = stack.flavours_folder(variant.file) / flavour.name
            folder.mkdir(parents=True, exist_ok=True)
            # JSON is YAML.
            text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
            write_atomically(folder / stack.NAME, text.encode())
            written.append(load_variant(workspace, str(folder)))
    return written
