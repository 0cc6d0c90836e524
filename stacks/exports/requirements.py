"""requirements.txt with hashes, as the lock has it."""

from __future__ import annotations

from stacks.exports.subject import Export, Subject, require_pip_only

NAME = "requirements.txt"


def export(subject: Subject) -> Export:
    """Return the committed requirements.txt; UsageError if the variant has conda packages."""
    require_pip_only(subject, "requirements")
    python = subject.variant.framework.python
    usage = (
        f"python{python} -m pip install --require-hashes --no-deps --no-build-isolation -r {{to}}"
    )
    return Export({NAME: subject.texts[NAME]}, usage)
