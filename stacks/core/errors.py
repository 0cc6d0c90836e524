"""The errors that people are shown, each with its exit code; suggestions for a misspelt name."""

import difflib
from collections.abc import Iterable


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
        parts = (("expected:", expected), ("found:", found), ("fix:", fix))
        lines = (f"  {name:<9} {part}" for name, part in parts if part is not None)
        super().__init__("\n".join([what, *lines]))


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


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar to `name`, None if none is similar."""
    by_lower = {k.lower(): k for k in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return by_lower[close[0]] if close else None


def unknown(kind: str, name: str, known: Iterable[str], *, where: str = "") -> UsageError:
    """Return the error for a name that does not exist; `where` is its file and line."""
    names = sorted(known)
    near = nearest(name, names) or nearest(name.rpartition("/")[2], names)
    return UsageError(
        f"{where}: unknown {kind}" if where else f"unknown {kind}",
        expected=f"one of {', '.join(names)}" if names else f"a {kind}; none exists yet",
        found=repr(name),
        fix=f"did you mean {near!r}?" if near else None,
    )


class DiskError(StacksError):
    """The disk is full or read-only, or permission is missing."""
