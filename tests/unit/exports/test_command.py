"""Writing a form to a file, and the command."""

from __future__ import annotations

from pathlib import Path

import pytest
from invoke.exceptions import Exit

from stacks.core.errors import UsageError
from stacks.exports import subject as subjects
from stacks.exports.forms import write
from stacks.exports.subject import Export
from stacks.tasks import use
from unit.exports.conftest import subject


def test_a_form_is_written_to_a_file_or_a_folder_and_replaces_no_other(tmp_path: Path) -> None:
    made = Export({"a.txt": "é\n"}, "")
    assert write(made, tmp_path) == tmp_path / "a.txt"
    assert write(made, tmp_path / "new/b") == tmp_path / "new/b"
    assert (tmp_path / "a.txt").read_bytes() == (tmp_path / "new/b").read_bytes() == "é\n".encode()
    before = (tmp_path / "a.txt").stat()
    write(made, tmp_path / "a.txt")
    assert (tmp_path / "a.txt").stat() == before, "the same bytes stay"
    two = Export({"c.txt": "new\n", "b.txt": "new\n"}, "")
    for other in ("mine", "link"):
        if other == "mine":
            (tmp_path / "b.txt").write_text("mine\n")
        else:
            (tmp_path / "b.txt").unlink()
            (tmp_path / "b.txt").symlink_to(tmp_path / "missing")
        with pytest.raises(UsageError, match=r"b\.txt is there already and differs\n  fix: "):
            write(two, tmp_path)
        assert not (tmp_path / "c.txt").exists(), "nothing is written"


@pytest.fixture
def openblas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no solver check the lock."""
    monkeypatch.setattr(subjects, "subject_of", lambda workspace, variant: subject("openblas"))


@pytest.mark.usefixtures("openblas")
def test_the_command_prints_a_form_or_writes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use.export.body(None, variant="openblas", as_="compose")
    out, err = capsys.readouterr()
    assert out.startswith("# it's") and "image: theano-openblas:1.0.5\n" in out
    assert err.startswith("next: ./invoke build --variant openblas ")
    path = tmp_path / "a b.yaml"
    use.export.body(None, variant="openblas", as_="compose", to=str(path))
    out, err = capsys.readouterr()
    assert out == f"written: {path}\n" and f"docker compose -f '{path}' run --rm theano" in err


@pytest.mark.usefixtures("openblas")
@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("compos", "did you mean 'compose'?"),
        ("", "expected: --as and one of conda-lock, environment, pixi"),
        ("devcontainer", "fix:      --to DIR"),
        ("requirements", "fix:      --as environment has all of it"),
    ],
)
def test_the_command_refuses(form: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Exit) as ended:
        use.export.body(None, variant="openblas", as_=form)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
