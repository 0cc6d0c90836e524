"""A stack.yaml on every flavour that fits: copies with another `extends`, built to time a program.

PATH/stack.build/flavours/FLAVOUR/stack.yaml has its lock and environment beside it, like any other.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from stacks.bench import user_program_rounds
from stacks.bench.candidates import prepare
from stacks.core.console import as_typed, display_path, plural
from stacks.core.disk import write_atomically
from stacks.core.errors import StaleError, UsageError, VerifyError
from stacks.core.workspace import Workspace
from stacks.environments.care import verify as verification
from stacks.environments.make import build
from stacks.locks import lock
from stacks.variants import stack
from stacks.variants.load import load_variant, on_framework
from stacks.variants.variant import Variant

# Packages that do not fit leave a flavour out. Errors of the network, for one, end all.
REFUSED = (UsageError, VerifyError)


def recommend(
    workspace: Workspace, variant: Variant, command: Sequence[str], *, rounds: int = 0
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
    found = prepare(workspace, written, make, REFUSED)
    if len(found) < 2:
        raise UsageError(
            f"{display_path(variant.file)}: nothing to choose from",
            expected="at least two flavours that its packages fit",
            found=", ".join(candidate.variant.name for candidate in found) or "none",
        )
    best = user_program_rounds.bench(found, command, rounds=rounds)
    names = {candidate.variant.id: candidate.variant.name for candidate in found}
    flavours = [names[each] for each in best]
    present = stack.read(variant.file).content.extends
    file = display_path(variant.file)
    if flavours == [present]:
        print(f"{file} has it already: extends: {present}")
    elif present in flavours:
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
    flavours = on_framework(workspace, original.content.framework)
    written = []
    for flavour in flavours:
        if flavour.device != "cpu" or flavour.baseline:
            continue
        content = original.content.model_dump(mode="json", exclude_unset=True)
        # A path of requirements is meant from the stack's folder.
        content.pop("requirements", None)
        content |= {"extends": flavour.name, "pip": original.requests}
        folder = stack.flavours_folder(variant.file) / flavour.name
        folder.mkdir(parents=True, exist_ok=True)
        # JSON is YAML.
        text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        write_atomically(folder / stack.NAME, text.encode())
        written.append(load_variant(workspace, str(folder)))
    return written


def make(workspace: Workspace, variant: Variant) -> None:
    """Lock a copy if it has no current lock, build and verify it; raises StacksError."""
    try:
        lock.current(workspace, variant)
    except (StaleError, UsageError):  # It is of another stack.yaml, or there is none.
        build.relock(workspace, variant)
    place = build.make_environment(workspace, variant)
    verification.verify_variant(workspace, variant, place, brief=True)
    print(f"{variant.name}: built and verified", file=sys.stderr)
