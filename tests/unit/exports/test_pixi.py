from __future__ import annotations

import sys

import pytest

from stacks.core.errors import UsageError
from stacks.exports import pixi
from unit.exports.conftest import NASTY, MakeSubject

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def test_each_package_by_version_build_and_hash(subject: MakeSubject) -> None:
    blis = subject("blis", "theano-0.8.2", summary=NASTY)
    content = tomllib.loads(pixi.export(blis).files["pixi.toml"])
    assert content["workspace"] == {
        "name": "theano-0.8.2-blis",
        "description": f"{NASTY}, on {blis.variant.framework.summary}",
        "channels": ["http://localhost:8420/theano-stacks"],
        "platforms": ["linux-64"],
    }
    assert content["system-requirements"] == {"libc": "2.31"}
    assert content["dependencies"] == {
        p.name: {"version": f"=={p.version}", "build": p.build, "sha256": p.sha256}
        for p in blis.lock.packages
    }


def test_what_pip_installs_is_refused(subject: MakeSubject) -> None:
    with pytest.raises(UsageError, match="has no hashes for files of the package index"):
        pixi.export(subject("pip-default"))
