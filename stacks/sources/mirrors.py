"""The vendored folder with pinned files; what addresses and access files must be.

`./invoke vendor` writes that folder. It has the layout of the cache below `sources/`, a channel
below `channel/`, and the wheels of the tools in `tools/`.
"""

import os
import re
from pathlib import Path
from urllib.parse import quote, urlsplit

from stacks.core.errors import FetchError, UsageError
from stacks.core.paths import check_is_file, expanded

VARIABLE = "THEANO_STACKS_VENDOR"
# In a vendored folder: the packages, the tools' wheels, and the digests of all other files.
CHANNEL, TOOLS, DIGESTS = "channel", "tools", "vendor.sha256"
# Variables that name CA bundles, and the fix for one that is not a file.
BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
ACCESS_FIX = "put a file there, or correct what names it, such as pip's cert or SSL_CERT_FILE"


def check_access_files(*files: str | bool | None) -> None:
    """Raise UsageError for a certificate, a ~/.netrc and the like that is a pipe, socket or device.

    Who reads a pipe may wait for ever, pip and uv too. A CA bundle may be a folder.
    """
    for file in (*files, os.environ.get("NETRC") or "~/.netrc"):
        if isinstance(file, str):
            path = Path(os.path.expanduser(file))  # noqa: PTH111
            check_is_file(path, file, fix=ACCESS_FIX, folder=True)


def public_url(url: str) -> str:
    """Return a URL or path for messages: without user, password, query and fragment.

    It may be one that cannot be parsed, and may come from a server: control characters are quoted.
    """
    address = re.split(r"[?#]", url, maxsplit=1)[0]
    address = re.sub(r"//[^/]*@", "//", address, count=1)
    return re.sub(r"[^\x20-\x7e]", lambda letter: quote(letter[0]), address)


def valid_url(url: str, where: str) -> str:
    """Return a URL; FetchError, which names `where` it was set, if it cannot be parsed."""
    try:
        urlsplit(url)
    except ValueError as error:
        raise FetchError(
            f"{where}: the address cannot be parsed: {error}", fix="check its spelling"
        ) from error
    return url


def vendored_folder() -> Path | None:
    """Return the folder that THEANO_STACKS_VENDOR names, None if it is not set.

    Raises UsageError if there is no such folder.
    """
    text = os.environ.get(VARIABLE)
    if not text:
        return None
    folder = expanded(text).absolute()
    if not folder.is_dir():
        raise UsageError(
            f"{VARIABLE} names no folder",
            found=text,
            fix="correct it, or unset it; `./invoke vendor DIR` writes one",
        )
    return folder


def pip_options() -> list[str]:
    """Return the options by which pip takes the tools' wheels from the vendored folder, if any."""
    folder = vendored_folder()
    return ["--no-index", "--find-links", str(folder / TOOLS)] if folder else []
