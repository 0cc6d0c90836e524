"""Names that a person typed, and the ones that were meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from stacks.core.errors import UsageError


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like the given one, None where nothing comes near."""
    by_lower = {k.lower(): k for k in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return by_lower[close[0]] if close else None


def unknown(kind: str, name: str, known: Iterable[str], *, where: str = "") -> UsageError:
    """Return the error for a name that does not exist; `where` is the file and line that has it."""
    names = sorted(known)
    near = nearest(name, names)
    return UsageError(
        f"{where}: unknown {kind}" if where else f"unknown {kind}",
        expected=f"one of {', '.join(names)}" if names else f"a {kind}; there is none yet",
        found=repr(name),
        fix=f"did you mean {near!r}?" if near else None,
    )
