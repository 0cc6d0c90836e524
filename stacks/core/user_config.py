"""The user's configuration of theano-stacks: config.yaml in the user's configuration folder."""

from __future__ import annotations

from pathlib import Path

import yaml

from stacks.core import yamlfile
from stacks.core.console import as_typed
from stacks.core.disk import explain_disk_errors, replace_atomically
from stacks.core.errors import DiskError
from stacks.core.models import Strict
from stacks.core.paths import user_folder

HEADER = "# Written by `./invoke configure`.\n"


class UserConfig(Strict):
    """debian_mirror: the root of a mirror of Debian's archive."""

    debian_mirror: str | None = None


def config_path() -> Path:
    """Return `$XDG_CONFIG_HOME/theano-stacks/config.yaml`, by default below `~/.config`.

    DiskError if there is no home folder.
    """
    return user_folder("configuration", "XDG_CONFIG_HOME", "~/.config") / "config.yaml"


def read_config() -> UserConfig:
    """Return the user's configuration, empty without a file; UsageError if it is invalid."""
    try:
        path = config_path()
    except DiskError:
        return UserConfig()
    with explain_disk_errors(path):
        exists = path.exists()
    return yamlfile.load(path, UserConfig) if exists else UserConfig()


def write_config(config: UserConfig) -> None:
    """Replace the user's configuration; remove the file if nothing is configured."""
    path = config_path()
    settings = config.model_dump(exclude_none=True)
    with explain_disk_errors(path):
        if not settings:
            path.unlink(missing_ok=True)
            return
    with replace_atomically(path) as new:
        # An address may contain a password.
        new.touch(mode=0o600)
        new.write_text(as_typed(HEADER) + yaml.safe_dump(settings))
