"""What goes wrong, told so that the person who meets it can go on."""

from __future__ import annotations


class StacksError(Exception):
    """A failure that is explained, not traced back.

    `what` names the thing and what happened to it; `expected` and `found` are shown where a
    comparison failed; `fix` says what to do about it.
    """

    exit_code = 1

    def __init__(
        self,
        what: str,
        *,
        expected: object = None,
        found: object = None,
        fix: str | None = None,
    ) -> None:
        self.what, self.expected, self.found, self.fix = what, expected, found, fix
        lines = [what]
        if expected is not None:
            lines.append(f"  expected: {expected}")
        if found is not None:
            lines.append(f"  found:    {found}")
        if fix is not None:
            lines.append(f"  fix:      {fix}")
        super().__init__("\n".join(lines))


class UsageError(StacksError):
    """What was asked for does not exist or cannot be read: a name, a key, a file."""

    exit_code = 2


class FetchError(StacksError):
    """A source could not be brought here."""


class IntegrityError(StacksError):
    """Bytes are not the ones that were pinned."""


class StaleError(StacksError):
    """A committed file no longer follows from its inputs."""


class VerifyError(StacksError):
    """The verification suite failed, or could not run."""
