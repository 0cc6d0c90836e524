from __future__ import annotations

from pathlib import Path

from stacks.publish import command, tables
from unit.helpers.publishing import QUICK, SLOW, at, session


def test_without_a_profile_there_is_no_table_of_calls(tmp_path: Path) -> None:
    (table,) = tables.tables(session(tmp_path))
    assert table.title == "Compiling and calling"


def test_the_tables_stand_in_both_documents(tmp_path: Path) -> None:
    session(tmp_path, base=SLOW, fast=QUICK)
    command.publish(at(tmp_path))
    written = (tmp_path / "docs/timings.md").read_text()
    assert "### Where a call spends its time" in written
    assert "| theano-1.0.5/base | ntm step | Dot22, Py | 500 | 52.4% |" in written
    assert "| theano-1.0.5/fast | ntm step | 4 | 2 | 2 | 1 | 1 | 60.0 |" in written
    page = (tmp_path / "site/index.html").read_text()
    assert '<td>Dot22, Py</td><td class="number">500</td>' in page
    assert page.index("as a table</summary>") < page.index("<svg")
    assert 'striped"></span> 3: Dot22, Py' in page
