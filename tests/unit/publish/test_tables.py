from __future__ import annotations

from pathlib import Path

from stacks.publish import command, tables
from unit.helpers.publishing import QUICK, SLOW, at, session


def test_without_a_profile_there_is_no_table_of_calls(tmp_path: Path) -> None:
    (table,) = tables.tables(session(tmp_path))
    assert table.title == "Compiling and calling"


def test_the_tables_stand_in_the_page(tmp_path: Path) -> None:
    session(tmp_path, base=SLOW, fast=QUICK)
    command.publish(at(tmp_path))
    page = (tmp_path / "site/index.html").read_text()
    assert '<td>Dot22, Py</td><td class="number">500</td>' in page
    assert page.index("as a table</summary>") < page.index("<svg")
    assert 'striped"></span> 3: Dot22, Py' in page
