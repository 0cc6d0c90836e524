"""The base of all models of files and messages, and the kinds of text in them.

A value that may end up in a configuration file, a program, a Dockerfile, a path or a command is
refused here unless it is one line of the characters that it needs. Whoever writes it there still
quotes it for that language.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

# Control characters, those that end a line or reorder it for a reader, and those that no XML file
# may have.
_CONTROL = r"\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufffe\uffff"
# Not empty, `.` or `..`.
_STEP = rf"([^./{_CONTROL}][^/{_CONTROL}]*|\.[^./{_CONTROL}][^/{_CONTROL}]*|\.\.[^/{_CONTROL}]+)"
FILE = r"[A-Za-z0-9_+~][A-Za-z0-9._+~:!-]*"

# Configuration files strip blanks at the ends, and begin a comment with `;` on Python 2.
_ENDS = rf"[^\s;{_CONTROL}]"

LINE = rf"^[^{_CONTROL}]*$"
ASCII_LINE = r"^[ -~]*$"
NAME = r"^[a-z0-9][a-z0-9._+-]*$"
SETTING = rf"^({_ENDS}([^;{_CONTROL}]*{_ENDS})?)?$"
VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
# No section in capitals: configparser's DEFAULT would count for every other section.
FLAG = r"^([A-Z]*[a-z_][A-Za-z0-9_]*\.)*[A-Za-z_][A-Za-z0-9_]*$"
REQUIREMENT = r"^[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9][A-Za-z0-9._+!-]*$"
VERSION = r"^[A-Za-z0-9][A-Za-z0-9._+~:!-]*$"
SPEC = r"^[a-z0-9_][a-z0-9_.-]*([ =<>!~][A-Za-z0-9_.*+!=<>~,| -]*)?$"
FILE_NAME = rf"^{FILE}$"
FILE_PATH = rf"^{FILE}(/{FILE})+$"
RELATIVE_PATH = rf"^{_STEP}(/{_STEP})*$"
CHANNEL = r"^[A-Za-z0-9/]([!-~]*[!-9;-~])?$"
SHA256 = r"^[0-9a-f]{64}$"
MD5 = r"^[0-9a-f]{32}$"

# The patterns in messages.
IN_WORDS = {
    LINE: "one line without control characters",
    ASCII_LINE: "one line of ASCII characters",
    SETTING: "one line without `;`, control characters, and blanks at its ends",
    NAME: "a name of small letters, digits and . _ + -",
    VARIABLE: "the name of an environment variable",
    FLAG: "the name of a flag, such as blas.ldflags",
    VERSION: "a version",
    SPEC: "a conda match spec, such as `numpy >=1.9`",
    REQUIREMENT: "name==version",
    FILE_NAME: "the name of a file",
    FILE_PATH: "the path of a file in an archive's pool",
    RELATIVE_PATH: "a path that stays in its folder",
    CHANNEL: "the name or address of a channel",
    SHA256: "64 hexadecimal digits",
    MD5: "32 hexadecimal digits",
}

Line = Annotated[str, Field(pattern=LINE)]
AsciiLine = Annotated[str, Field(pattern=ASCII_LINE)]
Setting = Annotated[str, Field(pattern=SETTING)]
Name = Annotated[str, Field(pattern=NAME)]
Variable = Annotated[str, Field(pattern=VARIABLE)]
Flag = Annotated[str, Field(pattern=FLAG)]
Version = Annotated[str, Field(pattern=VERSION)]
Spec = Annotated[str, Field(pattern=SPEC)]
Requirement = Annotated[str, Field(pattern=REQUIREMENT)]
FileName = Annotated[str, Field(pattern=FILE_NAME)]
FilePath = Annotated[str, Field(pattern=FILE_PATH)]
RelativePath = Annotated[str, Field(pattern=RELATIVE_PATH)]
ChannelName = Annotated[str, Field(pattern=CHANNEL)]
Sha256 = Annotated[str, Field(pattern=SHA256)]
Md5 = Annotated[str, Field(pattern=MD5)]


def one_line(text: str) -> str:
    """Return a text as a Line: runs of blanks and of characters that it may not have are one blank.

    It has no blanks at its ends.
    """
    return re.sub(rf"[\s{_CONTROL}]+", " ", text).strip()


class Strict(BaseModel):
    """A frozen model that refuses unknown keys and converts no types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
