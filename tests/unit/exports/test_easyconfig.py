from __future__ import annotations

import ast
import hashlib

from stacks.exports import easyconfig, environment
from unit.exports.conftest import NASTY, MakeSubject


def values_of(text: str) -> dict[str, object]:
    """Return the assignments of an easyconfig, which is Python."""
    pairs = [line.partition(" = ") for line in text.splitlines()]
    known = {name: ast.literal_eval(value) for name, _, value in pairs if value != "SYSTEM"}
    return {**known, "toolchain": next(value for name, _, value in pairs if name == "toolchain")}


def test_the_environment_file_is_a_source_with_its_hash(subject: MakeSubject) -> None:
    mkl = subject("mkl", "theano-pymc-1.1.2", summary=NASTY)
    files = easyconfig.export(mkl).files
    text = files["environment.yml"]
    assert text == environment.text_of(mkl)
    values = values_of(files["theano-pymc-1.1.2-mkl.eb"])
    assert (values["name"], values["version"]) == ("theano-pymc", "1.1.2")
    assert (values["versionsuffix"], values["toolchain"]) == ("-mkl", "SYSTEM")
    assert values["checksums"] == [hashlib.sha256(text.encode()).hexdigest()]
    assert values["environment_file"] == "%(builddir)s/environment.yml"
    # EasyBuild fills in values with Python's operator %.
    assert str(values["description"]) % {} == mkl.summary
    assert str(values["homepage"]) % {} == mkl.homepage
