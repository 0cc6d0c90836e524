"""The wheel whose settings name Debian's archive."""

from __future__ import annotations

import zipfile
from pathlib import Path

from stacks.sources.debian_mirrors import WHEEL_FILE

SETTINGS = """\
apt__distribution_repository_map:
  Debian: 'http://a.test/debian'
  Ubuntu: '{{ "http://other.test/ubuntu" if x else "http://ports.test/ubuntu-ports" }}'
apt__debian_archived_releases: [buster]
apt__debian_sources:
  - name: debian-release
    uri: '{{ apt__distribution_repository_map.Debian | d() }}'
  - name: debian-release
    uri: 'http://old.test/debian'
    state: '{{ "present" if (release in apt__debian_archived_releases) else "ignore" }}'
  - name: debian-release
    state: '{{ "present" if (release not in apt__debian_archived_releases) else "ignore" }}'
    suites: [x]
  - name: debian-release-security
    uri: 'http://security.test/debian'
    state: '{{ "present" if (release in apt__debian_archived_releases) else "ignore" }}'
"""


def wheel_with(folder: Path, settings: str) -> Path:
    """Write the wheel with some settings of its apt role into a folder."""
    wheel = folder / WHEEL_FILE
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/roles/apt/defaults/main.yml", settings)
    return wheel
