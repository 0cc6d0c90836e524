"""conda-lock.yml, as the lock has it."""

from __future__ import annotations

from stacks.exports.subject import Export, Subject, require_conda_only, with_channel
from stacks.locks.conda_lock import NAME


def export(subject: Subject) -> Export:
    """Return the committed conda-lock.yml; UsageError if pip installs a part of the variant."""
    reason = "an entry of pip in a conda-lock.yml needs an address of the package index"
    require_conda_only(subject, "conda-lock", reason)
    usage = with_channel(subject, f"conda-lock install -n {subject.name} {{to}}")
    return Export({NAME: subject.texts[NAME]}, usage)
