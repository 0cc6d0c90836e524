"""requirements.txt with hashes, as the lock has it, and the framework's settings."""

from __future__ import annotations

from stacks.exports.subject import Export, Subject, require_pip_only, settings_of

NAME = "requirements.txt"


def export(subject: Subject) -> Export:
    """Return the committed requirements.txt; UsageError if the variant has conda packages."""
    require_pip_only(subject, "requirements")
    framework, (name, text) = subject.variant.framework, settings_of(subject)
    python = f"python{framework.python}"
    usage = (
        f"{python} -m pip install --require-hashes --no-deps --no-build-isolation -r {{to}}/{NAME}"
        f" && {framework.rc_variable}={{to}}/{name} {python} train.py"
    )
    return Export({NAME: subject.texts[NAME], name: text}, usage)
