"""Suggestions for a misspelt name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from stacks.core.errors import UsageError


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar to `name`, None if none is similar."""
    by_lower = {k.lower(): k for k in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return by_lower[close[0]] if close else None


def unknown(kind: str, name: str, known: Iterable[str], *, where: str = "") -> UsageError:
    """Return the error for a name that does not exist; `where` is its file and line."""
    names = sorted(known)
    near = nearest(name, names)
    return UsageError(
        f"{where}: unknown {kind}" if where else f"unknown {kind}",
        expected=f"one of {', '.join(names)}" if names else f"a {kind}; none exists yet",
        found=repr(name),
        fix=f"did you mean {near!r}?" if near else None,
    )
