from __future__ import annotations

from pathlib import Path

import pytest

from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.distribution import channel
from stacks.distribution.channel_command import publish_channel
from unit.helpers.checkout import CHECKOUT


def test_options_that_do_not_belong_together() -> None:
    with pytest.raises(UsageError, match="where is the channel to be published") as caught:
        publish_channel(CHECKOUT, "")
    assert caught.value.fix == "--to DIR or --to oci://HOST/NAME"
    with pytest.raises(UsageError, match="--check compares a folder"):
        publish_channel(CHECKOUT, "oci://registry.invalid/stacks", check=True)
    with pytest.raises(UsageError, match="--images writes to a folder"):
        publish_channel(CHECKOUT, "oci://registry.invalid/stacks", images=True)
    with pytest.raises(UsageError, match="--to has an address of a registry"):
        publish_channel(CHECKOUT, "oci://registry.invalid")


def test_a_key_is_looked_at_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(channel, "prepare")
    with pytest.raises(UsageError, match="No such file"):
        publish_channel(CHECKOUT, str(tmp_path / "published"), key=str(tmp_path / "none.pem"))
    assert list(tmp_path.iterdir()) == []


def test_a_new_key_is_announced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = Workspace(tmp_path, tmp_path / "cache")
    own.recipes.mkdir()
    publish_channel(own, "", new_key=tmp_path / "key.pem")
    output = capsys.readouterr().out
    assert "key.pem: keep it secret; " in output and "channel-key.pem: commit it" in output
