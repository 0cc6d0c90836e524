"""A stack.yaml on every flavour that fits it, to find the fastest for its program.

STACK.build/flavours/FLAVOUR/stack.yaml is a copy with another `extends`, with its own lock,
environment and report. The person's own stack.yaml and lock stay as they are.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from stacks.bench import own_program
from stacks.bench.candidates import Candidate, candidates
from stacks.channel.offers import read_channel
from stacks.core.console import display_path
from stacks.core.disk import write_atomically
from stacks.core.errors import StacksError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments import build, stack_lock, verify
from stacks.locks import lock
from stacks.variants import stack
from stacks.variants.load import load_variant, on_framework
from stacks.variants.variant import Variant


def recommend(workspace: Workspace, variant: Variant, command: Sequence[str], rounds: int) -> None:
    """Time a stack's program on all flavours; print the table, and how to use another flavour.

    Flavours that cannot be locked, built or verified with the stack's packages are left out, with
    the reason. Raises UsageError if none is left, and what a run of the program raises.
    """
    found = []
    for copy in copies(workspace, variant):
        try:
            found += [_candidate(workspace, copy)]
        except StacksError as error:
            print(f"left out: {copy.id}: {error.what.splitlines()[0]}", file=sys.stderr)
    assert variant.file
    if not found:
        raise UsageError(
            f"no flavour of {variant.framework.name} has the packages of "
            f"{display_path(variant.file)}",
            fix=f"./invoke lock {variant.option} says why",
        )
    own_program.bench(found, command, rounds=rounds)
    print(f"to use one, write its name as `extends:` into {display_path(variant.file)} and lock it")


def copies(workspace: Workspace, variant: Variant) -> list[Variant]:
    """Write a copy of a stack.yaml for each flavour for the processor, and return the variants.

    The baseline is not one of them: it is slow on purpose.
    """
    assert variant.file
    original = stack.read(variant.file)
    stack.make_build_folder(variant.file)
    folder = stack.build_folder(variant.file) / stack.FLAVOURS
    flavours = [
        each.name
        for each in on_framework(workspace, variant.framework.name)
        if each.device == "cpu" and not each.baseline
    ]
    made = []
    for name in flavours:
        content = original.content.model_copy(
            update={"extends": name, "pip": original.requests, "requirements": None}
        )
        file = folder / name / stack.NAME
        file.parent.mkdir(parents=True, exist_ok=True)
        # JSON is YAML, and quotes every value.
        text = json.dumps(content.model_dump(mode="json", exclude_defaults=True), indent=1)
        write_atomically(file, text + "\n")
        made.append(load_variant(workspace, str(file)))
    return made


def _candidate(workspace: Workspace, variant: Variant) -> Candidate:
    """Lock, build and verify a copy where that was not done before."""
    try:
        lock.check(workspace, variant, read_channel(workspace))
    except StacksError:
        stack_lock.relock(workspace, variant)
    place = build.make_environment(workspace, variant)
    [candidate] = candidates(workspace, [variant])
    if not candidate.verified:
        verify.verify_variant(workspace, variant, place)
        [candidate] = candidates(workspace, [variant])
    return candidate
