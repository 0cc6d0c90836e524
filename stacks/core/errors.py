"""The errors that people are shown, each with its exit code."""

from __future__ import annotations


class StacksError(Exception):
    """A failure that is shown as a message, without a traceback.

    what: what failed, the subject first. expected, found: the two sides of a comparison.
    fix: what the person can do.
    """

    exit_code = 1

    def __init__(
        self, what: str, *, expected: object = None, found: object = None, fix: str | None = None
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
    """A name, key or file that the person gave does not exist or cannot be read."""

    exit_code = 2


class FetchError(StacksError):
    """A source could not be fetched."""


class IntegrityError(StacksError):
    """Bytes differ from the pinned ones."""


class StaleError(StacksError):
    """A committed file differs from what its inputs give now."""


class ScarceError(StacksError):
    """A pinned source is at one place only, or at none."""

    exit_code = 4


class VerifyError(StacksError):
    """The verification suite failed or could not run."""
