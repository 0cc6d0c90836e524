import os
from pathlib import Path

import pytest

from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.environments import folders
from stacks.environments.folders import folder_of
from stacks.locks.lock import lock_folder
from stacks.variants import stack
from stacks.variants.load import load_variant, select
from unit.helpers.environments import add

TEXT = """\
summary: mine
extends: openblas
framework: theano-1.0.5
"""


def refused(file: Path, text: str) -> str:
    file.write_text(TEXT + text)
    with pytest.raises(UsageError) as caught:
        stack.read(file)
    return str(caught.value)


def test_a_stack_is_its_flavour_with_more(workspace: Workspace, file: Path) -> None:
    (file.parent / "r.txt").write_text("# mine\nsix  # here\n\nnumpy>1; python_version<'3'\n")
    file.write_text(
        TEXT + "pip: [lasagne==0.1, 'matplotlib[x] <4']\nrequirements: r.txt\nfloatX: float32\n"
        "flags: {optimizer: fast_run}\nenvironment: {A: b}\npackages: [six]\n"
    )
    variant, plain = load_variant(workspace, str(file)), load_variant(workspace, "openblas")
    assert variant.requests == (
        "lasagne==0.1", "matplotlib[x]<4", "six", 'numpy>1; python_version < "3"'
    )  # fmt: skip
    assert variant.theano_flags() == {
        **plain.theano_flags(), "floatX": "float32", "optimizer": "fast_run"
    }  # fmt: skip
    assert variant.variables == {**plain.variables, "A": "b"}
    settings = {name for name in variant.conda_specs() if name.startswith("theano-settings")}
    assert set(variant.conda_specs()) - settings == {
        "six", *(name for name in plain.conda_specs() if not name.startswith("theano-settings"))
    }  # fmt: skip
    assert (variant.summary, variant.id) == ("mine", "theano-1.0.5/my-pr-ject")


def test_a_stack_has_its_flavours_settings_unless_it_changes_them(
    workspace: Workspace, file: Path
) -> None:
    flavour = load_variant(workspace, "openblas").settings_label
    labels = []
    for more in (
        "pip: [six]\npackages: [six]\n",
        "floatX: float64\nflags: {device: cpu}\n",
        "floatX: float32\n",
        "flags: {optimizer: fast_run}\n",
        "environment: {A: b}\n",
        "environment: {A: c}\n",
    ):
        file.write_text(TEXT + more)
        labels.append(load_variant(workspace, str(file)).settings_label)
    assert labels[:2] == [flavour, flavour]
    assert len({flavour, *labels[2:]}) == 5
    file.rename(file.parent / "other.yaml")
    moved = load_variant(workspace, str(file.parent / "other.yaml"))
    assert moved.settings_label == labels[-1], "not of the file's name"
    file.write_text((TEXT + "environment: {A: c}\n").replace("openblas", "mkl"))
    assert load_variant(workspace, str(file)).settings_label not in labels


def test_all_lies_beside_it_and_the_option_that_names_it_is_quoted(
    workspace: Workspace, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(TEXT)
    variant, folder = load_variant(workspace, str(file.parent)), file.parent
    assert lock_folder(workspace, variant) == folder / "stack.lock"
    assert folder_of(workspace, variant) == folder / "stack.build/environment"
    assert folders.report_path(workspace, variant) == folder / "stack.build/report.json"
    assert variant.option == "--variant stack.yaml"
    assert select(workspace, str(file)) == (variant,)
    monkeypatch.chdir(file.parents[1])
    variant = load_variant(workspace, "my prøject/stack.yaml")
    assert variant.option == "--variant 'my prøject/stack.yaml'"
    assert load_variant(workspace, "mkl").option == "--variant mkl"


def test_names(file: Path) -> None:
    for path, name in (
        ("Mein Projekt/stack.yaml", "mein-projekt"),
        ("modèle/stack.yaml", "modele"),
        ("a/small.yaml", "a-small"),
        ("模型/stack.yaml", "stack"),
    ):
        assert stack.name_of(Path("/home") / path) == name
    # Names that are no paths.
    for name in ("openblas", "theano-0.8.2/mkl", "mkl@conda-forge", ""):
        assert stack.file_of(name) is None
    file.write_text(TEXT)
    assert stack.file_of(".") == stack.file_of("stack.yaml") == file


def test_every_way_to_name_a_folder_is_the_same_stack(file: Path, tmp_path: Path) -> None:
    file.write_text(TEXT)
    (tmp_path / "link").symlink_to(file.parent)
    (tmp_path / "circle").symlink_to("circle")
    for name in ("../my prøject", "../my prøject/stack.yaml", "../link", "../link/./stack.yaml"):
        assert stack.file_of(name) == file
    assert stack.file_of("../circle/stack.yaml") == tmp_path / "circle/stack.yaml"
    # A link to the file is a project of its own.
    (tmp_path / "stack.yaml").symlink_to(file)
    assert stack.file_of("..") == tmp_path / "stack.yaml"


def test_a_missing_file(workspace: Workspace, file: Path) -> None:
    with pytest.raises(UsageError, match=r"stack\.yaml: no such file(.|\n)*`./invoke init \.`"):
        load_variant(workspace, str(file))
    # No flavour begins as a path does.
    for name in ("/nowhere", "./nowhere", "~/nowhere"):
        with pytest.raises(UsageError, match=r"nowhere/stack\.yaml: no such file"):
            load_variant(workspace, name)
    (file.parent / "r.txt").touch()
    with pytest.raises(UsageError, match=r"r\.txt: neither a stack\.yaml nor a folder with one"):
        load_variant(workspace, "./r.txt")
    os.mkfifo(file)
    with pytest.raises(UsageError, match=r"stack\.yaml is a pipe"):
        load_variant(workspace, str(file))
    with pytest.raises(UsageError, match=r"small\.yaml: no such file(.|\n)*check the spelling"):
        load_variant(workspace, "small.yaml")


def test_a_folder_named_as_a_flavour_is_not_what_a_stack_extends(
    workspace: Workspace, file: Path
) -> None:
    add(file.parent, "openblas/stack.yaml", TEXT + "floatX: float32\n")
    file.write_text(TEXT)
    assert load_variant(workspace, "openblas/stack.yaml").floatX == "float32"
    assert load_variant(workspace, "stack.yaml").floatX == "float64"


@pytest.mark.parametrize(
    ("text", "where", "found"),
    [
        ("extends: theano-1.0.5/blis\n", "stack.yaml:2:10", "did you mean 'blis'"),
        ("framework: theano-9\n", "stack.yaml:3:12", "unknown framework"),
        ("framework: theano-0.8.2\nextends: gpuarray-cuda\n", "stack.yaml:3:12", "not support"),
    ],
)
def test_wrong_names(text: str, where: str, found: str, workspace: Workspace, file: Path) -> None:
    keys = dict(line.split(": ") for line in (TEXT + text).splitlines())
    file.write_text("".join(f"{key}: {value}\n" for key, value in keys.items()))
    with pytest.raises(UsageError) as caught:
        load_variant(workspace, str(file))
    assert where in str(caught.value) and found in str(caught.value)


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        ("-e .", "an editable install"),
        ("--index-url http://x", "an index"),
        ("--extra-index-url=http://x", "an index"),
        ("--find-links x", "an index"),
        ("-c other.txt", "another file"),
        ("-rother.txt", "another file"),
        ("six==1.16.0 --hash=sha256:abc", "a hash"),
        ("--no-binary :all:", "a choice of files"),
        ("--pre", "a choice of versions"),
        ("six==${SIX}", "has the variable ${SIX}\n"),
        ("-foo", "an index"),
        ("six -x", "an option of pip"),
        ("./six", "a file or an address"),
        ("git+https://me:secret@host/x@v1", "'git+https://host/x@v1' is a file or an address"),
        ("--index-url=https://me:s@cret@host/simple", "'--index-url=https://host/simple' is an in"),
        ("six @ https://host/six.whl", "a file or an address"),
        *(
            (each, "a file or an address")
            for each in (
                "six-1.16.0-py2.py3-none-any.whl",
                "six-1.16.0.tgz",
                "wheels/six-1.16.0-py3-none-any.whl[extra]",
                "libs/six",
                "file:six",
            )
        ),
        ("six==", "no requirement"),
        ("six=1.16", "write NAME==VERSION"),
        ("six   1.16.0", "write NAME==VERSION"),
        ("<2", "put a request with a comma in quotes"),
    ],
)
def test_requests_that_are_refused(request_: str, reason: str, file: Path) -> None:
    message = refused(file, f'pip: [numpy, "{request_}"]\n')
    assert message.startswith("stack.yaml:4:") and reason in message
    (file.parent / "r.txt").write_text(f"numpy\n\n{request_}\n")
    message = refused(file, "requirements: r.txt\n")
    assert message.startswith("r.txt:3: ") and reason in message


def test_files_that_cannot_be_read(file: Path) -> None:
    assert "stack.yaml:4:15: no.txt: No such file" in refused(file, "requirements: no.txt\n")
    assert "stack.yaml:4:15: . is a folder\n" in refused(file, 'requirements: ""\n')
    os.mkfifo(file.parent / "pipe")
    assert "stack.yaml:4:15: pipe is a pipe\n" in refused(file, "requirements: pipe\n")
    message = refused(file, "requirements: https://me:secret@host/r.txt\n")
    assert message.startswith("stack.yaml:4:15: the requirements file is an address\n")
    # Among them UTF-16 without a mark.
    for data in (b"\xff\xfe\0", b"# coding: no-such\nsix\n", b"s\0i\0x\0", b"# \xe9\n"):
        (file.parent / "r.txt").write_bytes(data)
        assert "r.txt: it is not UTF-8" in refused(file, "requirements: r.txt\n")
    # Lines that go on are counted.
    (file.parent / "r.txt").write_text("six \\\n  ==1.16.0\nnumpy\nbad bad\n")
    assert refused(file, "requirements: r.txt\n").startswith("r.txt:4: ")
    assert "stack.yaml:4:1" in refused(file, "piip: [six]\n")
    # The first line of each kind.
    (file.parent / "r.txt").write_text("numpy\n-e .\n-e b\n-r b.txt\nsix --hash=x\nbad bad\n")
    message = refused(file, "requirements: r.txt\n")
    assert [line for line in message.splitlines() if line[0] != " "] == [
        "r.txt:2: '-e .' is an editable install",
        "r.txt:4: '-r b.txt' is another file",
        "r.txt:5: 'six --hash=x' is a hash",
        "r.txt:6: 'bad bad' is no requirement",
    ]


SIX = "six==1.16.0\n# \u00e9\n"


@pytest.mark.parametrize(
    ("data", "requests"),
    [
        (b"# data in C:\\data\\\nlasagne==0.1\n", ["lasagne==0.1"]),
        (b"six \\\n  ==1.16.0 \\\r\n  # newer\nlasagne\n", ["six==1.16.0", "lasagne"]),
        (b"six\\", ["six"]),
        (b"six; platform_version == 'a -x'\n", ['six; platform_version == "a -x"']),
        *((SIX.encode(e), ["six==1.16.0"]) for e in ("utf-8", "utf-8-sig", "utf-16", "utf-32")),
        (b"\xfe\xff" + SIX.encode("utf-16-be"), ["six==1.16.0"]),
        (b"# -*- coding: latin-1 -*-\nsix==1.16.0 # \xe9\n", ["six==1.16.0"]),
    ],
)
def test_lines_and_encodings_of_a_requirements_file_are_pips(
    file: Path, data: bytes, requests: list[str]
) -> None:
    (file.parent / "r.txt").write_bytes(data)
    file.write_text(TEXT + "requirements: r.txt\n")
    assert list(stack.read(file).requests) == requests


def test_the_template_is_a_stack(workspace: Workspace, tmp_path: Path) -> None:
    def written(folder: Path) -> Path:
        return stack.write_template(folder, extends="openblas", framework="theano-1.0.5")

    file = written(tmp_path / 'a "b": {c}')
    assert load_variant(workspace, str(file)).summary == 'a "b": {c}'
    before = file.read_text()
    with pytest.raises(UsageError, match="is there already"):
        written(file.parent)
    assert file.read_text() == before
    # A folder whose name is not UTF-8.
    odd = written(Path(os.fsdecode(os.fsencode(tmp_path) + b"/m\xff")))
    assert stack.read(odd).content.summary == "m?"
