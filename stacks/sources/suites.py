"""How long Debian's suites are supported, from Debian's own table (package distro-info-data)."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

from stacks.core.disk import scratch
from stacks.core.errors import IntegrityError
from stacks.sources.download import get_document
from stacks.sources.unpack import unpack_deb
from stacks.sources.web import Web

# The package, and the path of the table in it.
PACKAGE, TABLE = "distro-info-data", "usr/share/distro-info/debian.csv"
# Bytes; an InRelease has 200 kB.
LARGEST_RELEASE = 4 << 20


@dataclass(frozen=True)
class Support:
    """The dates of a suite: its release and the end of its long-term support; None if not set."""

    released: date | None
    ends: date | None


def support_dates(deb: Path) -> Mapping[str, Support]:
    """Return the dates of each suite by its codename, from the package distro-info-data.

    Mirrors keep a suite until its long-term support (eol-lts) has ended; Debian's archive of ended
    releases takes it then. Raises IntegrityError if the package has no such table.
    """
    with scratch() as folder:
        unpack_deb(deb, folder)
        try:
            text = (folder / TABLE).read_text(encoding="utf-8")
            return {row["series"]: _support(row) for row in csv.DictReader(io.StringIO(text))}
        except (OSError, ValueError, KeyError, csv.Error) as error:
            raise IntegrityError(
                f"{deb.name}: the table of suites cannot be read",
                expected=f"{TABLE} with the columns series, release, eol, eol-lts",
                found=repr(error),
                fix="run `./invoke pin` for another version of it",
            ) from error


def _support(row: Mapping[str, str | None]) -> Support:
    def day(column: str) -> date | None:
        text = row.get(column)
        return date.fromisoformat(text) if text else None

    return Support(day("release"), max(filter(None, (day("eol"), day("eol-lts"))), default=None))


def valid_until(web: Web, root: str, suite: str) -> datetime | None:
    """Return the Valid-Until of a suite's InRelease at a mirror, None if it has none.

    The signature is not checked: the date is for a person to read. Raises what Web.get raises.
    """
    content, _, _ = get_document(web, f"{root}/dists/{suite}/InRelease", "*/*", LARGEST_RELEASE)
    line = re.search(rb"^Valid-Until: *([ -~]+)$", content, re.MULTILINE)
    try:
        when = parsedate_to_datetime(line[1].decode()) if line else None
    except (ValueError, TypeError, OverflowError):
        return None
    # A date without a zone cannot be compared with the time now.
    return when if when and when.tzinfo else None
