"""Writing the forms, and the command that does it."""

from __future__ import annotations

from pathlib import Path

import pytest
from invoke.exceptions import Exit

from stacks.core.errors import UsageError
from stacks.exports import subject as subjects
from stacks.exports.forms import FORMS, write
from stacks.exports.subject import Export
from stacks.tasks import use
from stacks.tasks.options import VALUES
from unit.exports.conftest import MakeSubject


def test_a_file_or_an_existing_folder_for_it(tmp_path: Path) -> None:
    export = Export({"a.txt": "é\n"}, "")
    assert write(export, tmp_path) == tmp_path / "a.txt"
    assert write(export, tmp_path / "new/b") == tmp_path / "new/b"
    assert (tmp_path / "a.txt").read_bytes() == (tmp_path / "new/b").read_bytes() == "é\n".encode()
    before = (tmp_path / "a.txt").stat()
    write(export, tmp_path / "a.txt")
    assert (tmp_path / "a.txt").stat() == before, "the same bytes stay"


def test_another_file_is_not_replaced(tmp_path: Path) -> None:
    export = Export({"a.txt": "new\n", "b.txt": "new\n"}, "")
    (tmp_path / "b.txt").write_text("mine\n")
    with pytest.raises(
        UsageError, match=r"b\.txt is there already and differs\n  fix:      remove"
    ):
        write(export, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["b.txt"], "nothing is written"
    (tmp_path / "b.txt").unlink()
    (tmp_path / "b.txt").symlink_to(tmp_path / "missing")
    with pytest.raises(UsageError, match="is there already"):
        write(export, tmp_path)


@pytest.mark.parametrize("form", sorted({*FORMS} - {"requirements", "pylock"}))
def test_each_form_of_a_variant_ends_its_files_with_a_line(
    form: str, subject: MakeSubject, tmp_path: Path
) -> None:
    export = FORMS[form](subject("openblas"))
    for name, text in export.files.items():
        assert text.endswith("\n") and not text.endswith("\n\n") and not Path(name).is_absolute()
    assert "{to}" in export.usage or form == "kernelspec"


@pytest.fixture
def openblas(subject: MakeSubject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no solver check the lock."""
    found = subject("openblas")
    monkeypatch.setattr(subjects, "subject_of", lambda workspace, variant: found)


@pytest.mark.usefixtures("openblas")
def test_the_text_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    use.export.body(None, variant="openblas", as_="compose")
    out, err = capsys.readouterr()
    assert out.startswith("# OpenBLAS for BLAS") and "image: theano-openblas:1.0.5\n" in out
    assert err.startswith("next: ./invoke build --variant openblas ")
    assert "docker compose -f compose.yaml run --rm theano" in err


@pytest.mark.usefixtures("openblas")
def test_a_path_is_named_and_quoted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a b.yaml"
    use.export.body(None, variant="openblas", as_="compose", to=str(path))
    out, err = capsys.readouterr()
    assert out == f"written: {path}\n" and f"-f '{path}' run" in err


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
def test_a_form_that_cannot_be_written(
    form: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Exit) as ended:
        use.export.body(None, variant="openblas", as_=form)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_the_forms_are_completed() -> None:
    assert list(VALUES["--as"]()) == list(FORMS)
