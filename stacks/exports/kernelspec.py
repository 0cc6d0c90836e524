"""A Jupyter kernelspec: the kernel.json that `./invoke kernel` installs."""

from __future__ import annotations

from stacks.environments.use import kernel
from stacks.exports.subject import Export, Subject


def export(subject: Subject) -> Export:
    """Return the kernel.json of a variant's environment."""
    variant, target = subject.variant, subject.environment
    locked = any(pin.name == "ipykernel" for pin in subject.lock.requirements)
    own = locked or kernel.has_own(variant, target)
    text = kernel.spec_text(variant, kernel.command(target, own=own), target)
    usage = f"./invoke kernel {variant.option} installs it, and the ipykernel that it starts"
    return Export({"kernel.json": text}, usage)
