from __future__ import annotations

import json
from pathlib import Path

from stacks.channel.offers import Channel
from stacks.core.workspace import Workspace
from stacks.image import sbom
from stacks.image.config import config_of
from stacks.locks.lock import Lock
from stacks.sources.pins import IndexPin, Pins
from stacks.variants.load import load_variant
from unit.helpers.serving import deb

WHEEL = IndexPin(
    name="Some_Thing", version="2", filename="some_thing-2.whl", size=1, sha256="a" * 64
)


def test_each_component_has_a_package_url_a_hash_and_a_licence(
    workspace: Workspace, tmp_path: Path
) -> None:
    metadata = tmp_path / "some_thing-2.dist-info/METADATA"
    metadata.parent.mkdir()
    metadata.write_text(
        "Metadata-Version: 2.1\nName: some-thing\nVersion: 2\n"
        "Classifier: License :: OSI Approved :: MIT License\n"
    )
    config = config_of(workspace, load_variant(workspace, "pip-default", "theano-1.0.5"))
    lock = Lock((), (WHEEL,))
    texts = {
        sbom.render(
            config, "key", (), lock, Channel({}, Pins()), {deb(): ("GPL-2+", "MIT")}, tmp_path
        )
        for _ in range(2)
    }
    [text] = texts
    content = json.loads(text)
    found = {component["purl"]: component for component in content["components"]}
    debian = "pkg:deb/debian/foo@1.0?arch=amd64&distro=debian-11"
    wheel = "pkg:pypi/some-thing@2?file_name=some_thing-2.whl"
    assert sorted(found) == [debian, wheel]
    assert [one["license"]["name"] for one in found[debian]["licenses"]] == ["GPL-2+", "MIT"]
    assert found[wheel]["licenses"] == [{"license": {"name": "MIT License"}}]
    assert found[wheel]["hashes"] == [{"alg": "SHA-256", "content": "a" * 64}]
    assert content["metadata"]["component"]["name"] == config.repository
