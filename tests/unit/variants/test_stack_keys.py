"""The keys and variables that people write into a stack.yaml, where other words are meant."""

import re
from pathlib import Path

import pytest

from unit.variants.test_stack import refused


@pytest.mark.parametrize(
    ("name", "words"),
    [
        *(
            (name, rf"has no effect(.|\n)*found: +{reader}(.|\n)*{name}=VALUE ./invoke run")
            for name, reader in (
                ("PYTHONPATH", "Python"),
                ("LC_ALL", "Python"),
                ("TZ", "Python"),
                ("LD_PRELOAD", "the loader"),
                ("GLIBC_TUNABLES", "the C library"),
                ("MALLOC_ARENA_MAX", "the C library"),
                ("HOME", "each session"),
            )
        ),
        *(
            (name, "may not stand(.|\n)*leave it out: no program")
            for name in ("PYTHONHOME", "PIP_USER", "VIRTUAL_ENV")
        ),
        ("PATH", "may not stand(.|\n)*whole paths"),
        ("THEANO_FLAGS", "may not stand(.|\n)*into `flags:`"),
        ("THEANORC", "may not stand(.|\n)*into `flags:`"),
        ("PIP_CONSTRAINT", "may not stand(.|\n)*leave it out"),
    ],
)
def test_a_variable_that_would_have_no_effect(name: str, words: str, file: Path) -> None:
    message = refused(file, f'environment: {{A: "1", {name}: "0"}}\n')
    assert re.match(rf"stack\.yaml:\d+:\d+: {name} {words}", message), message


@pytest.mark.parametrize("value", ["$HOME/data", "a:${B}", "~/data"])
def test_a_value_that_a_shell_would_replace(value: str, file: Path) -> None:
    message = refused(file, f'environment: {{DATA: "{value}", COST: "5 $"}}\n')
    assert ": DATA is taken as it is written" in message and value in message
    assert "fix:      write it out, or set it where you start programs: DATA=VALUE" in message


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("dependencies", "Python packages go into `pip:`"),
        ("install-requires", "`pip:` lists"),
        ("conda", "`packages:` lists"),
        ("channels", "conda packages come from the project"),
        ("python_version", "`framework:` selects"),
        ("env", "`environment:` sets"),
        ("name", "`summary:` describes"),
        ("BLAS", "`extends:` names"),
        ("cxxflags", "`flags:` sets"),
        ("extras", "`pip:` lists"),
        ("floatx", "did you mean 'floatX'"),
    ],
)
def test_a_key_that_people_write(key: str, words: str, file: Path) -> None:
    message = refused(file, f"{key}: [a]\n")
    assert message.startswith("stack.yaml:4:1: ") and message.count("\n") == 0
    assert f"found {key!r}: {words}" in message
