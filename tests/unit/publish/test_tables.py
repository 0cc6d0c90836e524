from __future__ import annotations

from pathlib import Path
from typing import Any

from stacks.bench import store
from stacks.bench.profile import Profile
from stacks.publish import command, tables
from stacks.publish.sessions import Session, sessions
from unit.helpers.benching import BASE, FAST, result, runs
from unit.helpers.publishing import at


def profile(*rows: tuple[str, str, float], compile_seconds: float = 10.0) -> Profile:
    """Return a profile of ten calls: (class, implementation, seconds of all of them)."""
    kept = tuple({"name": n, "type": t, "seconds": s, "calls": 10} for n, t, s in rows)
    split = {"optimiser": 6.0, "validation": 2.0, "linker": 3.0, "import": 1.0, "modules": 0}
    return Profile.model_validate(
        {
            "calls": 10,
            "seconds": sum(seconds for *_, seconds in rows) + 0.05,
            "compile": {"total": compile_seconds, **split},
            "rows": kept,
            "rest": {"classes": 3, "seconds": 0.05, "calls": 30},
        }
    )


OVERHEAD = ("(scan's own overhead)", "", 0.5)


SLOW = profile(("Dot22", "Py", 5.0), ("Elemwise", "C", 4.0), OVERHEAD)


QUICK = profile(("Elemwise", "C", 4.0), ("Dot22", "C", 1.0), OVERHEAD)


def session(tmp_path: Path, **profiles: Profile | None) -> Session:
    found: list[Any] = []
    for subject, seconds in ((BASE, 1.0), (FAST, 0.6)):
        more = {"profile": profiles.get(subject.flavour), "compile": 10.0}
        found += runs(subject, [seconds] * 7, name="ntm step", unit="s", **more)
    store.write(at(tmp_path), result(found, BASE, FAST))
    (one,) = sessions(store.read_all(at(tmp_path))[0])
    return one


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
