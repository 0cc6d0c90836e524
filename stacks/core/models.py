"""The base of all models of files and messages, and the kinds of text in them.

A value that may end up in a configuration file, a program, a Dockerfile, a path or a command is
refused here unless it is one line of the characters that it needs. Whoever writes it there still
quotes it for that language.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, is_dataclass
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from stacks.core.errors import nearest

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

    @classmethod
    def key_hint(cls, key: str) -> str | None:
        """Return what to write for an unknown key, None for the name that is most similar."""
        return None


Keys = tuple[str | int, ...]
# The most characters of a key or a value in a message.
LONGEST = 100

EXPECTED = {
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "tuple_type": "a list, such as [A, B]",
    "list_type": "a list, such as [A, B]",
    "dict_type": "a mapping, such as {{A: B}}",
    "model_type": "a mapping",
    "dataclass_type": "a mapping",
    "model_attributes_type": "a mapping",
    "string_pattern_mismatch": "text that matches {pattern}",
    "string_too_short": "at least {min_length} characters",
    "too_short": "at least {min_length} entries",
    "greater_than_equal": "{ge} or more",
}


@dataclass(frozen=True)
class Fault:
    """An error in a file; `about_key` if the key is wrong, not its value."""

    keys: Keys
    message: str
    about_key: bool = False


def explain(
    error: ValidationError, model: type[BaseModel], known: Collection[Keys]
) -> Iterator[Fault]:
    """Yield the errors in the order of the model; `known` are the keys in the file."""
    for detail in _of_nearest_branch(error.errors(include_url=False), known):
        kind, loc, ctx = detail["type"], detail["loc"], detail.get("ctx", {})
        keys = _in_file(loc, known)
        if kind == "missing":
            holder = _in_file(loc[:-1], known)
            yield Fault(holder, f"expected the key {str(loc[-1])!r}, found none")
        elif kind in ("extra_forbidden", "unexpected_keyword_argument"):
            names, name = _names_at(model, loc[:-1]), str(loc[-1])
            other = model.key_hint(name) if len(loc) == 1 and issubclass(model, Strict) else None
            hint = f": {other}" if other else _hint(name, names)
            yield Fault(
                keys,
                f"expected one of the keys {', '.join(names)}; found {shortened(name)!r}{hint}",
                about_key=True,
            )
        elif kind in ("literal_error", "union_tag_invalid"):
            allowed = re.findall("'([^']*)'", str(ctx.get("expected", ctx.get("expected_tags"))))
            value = ctx.get("tag", detail["input"])
            if "discriminator" in ctx:
                keys = (*keys, ctx["discriminator"].strip("'"))
            yield Fault(
                keys,
                f"expected one of {', '.join(allowed)}; "
                f"found {described(value)}{_hint(value, allowed)}",
            )
        elif kind == "union_tag_not_found":
            yield Fault(keys, f"expected the key {ctx['discriminator']}, found none")
        else:
            template = IN_WORDS.get(ctx.get("pattern", ""), EXPECTED.get(kind, detail["msg"]))
            expected = template.format(**ctx) if template == EXPECTED.get(kind) else template
            found = described(detail["input"])
            if kind == "string_type" and isinstance(detail["input"], (bool, int, float)):
                found += ": put it in quotes"
            yield Fault(keys, f"expected {expected}, found {found}")


def described(value: object) -> str:
    """Return a value in words."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return repr(shortened(value) if isinstance(value, str) else value)


def shortened(text: str) -> str:
    """Return a text as it is, or the beginning of one that is too long for a message."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _hint(name: object, names: Iterable[str]) -> str:
    near = nearest(name, names) if isinstance(name, str) and len(name) <= LONGEST else None
    return f": did you mean {near!r}?" if near else ""


def _in_file(loc: Keys, known: Collection[Keys]) -> Keys:
    """Return a location without the parts that name a branch of a union."""
    keys: Keys = ()
    for part in loc:
        keys = (*keys, part) if (*keys, part) in known else keys
    return keys


def _of_nearest_branch(details: list[ErrorDetails], known: Collection[Keys]) -> list[ErrorDetails]:
    """Of a value that fits no branch of a union, return the errors of the branch that fits best."""
    groups: dict[Keys, dict[object, list[ErrorDetails]]] = {}
    for detail in details:
        holder, branch = _branch(detail, known)
        groups.setdefault(holder, {}).setdefault(branch, []).append(detail)
    return [d for branches in groups.values() for d in min(branches.values(), key=len)]


def _branch(detail: ErrorDetails, known: Collection[Keys]) -> tuple[Keys, object]:
    loc = detail["loc"]
    for i in range(len(loc)):
        is_missing_key = detail["type"] == "missing" and i == len(loc) - 1
        if loc[: i + 1] not in known and not is_missing_key:
            return loc[:i], loc[i]
    return loc, None


def _names_at(model: type[BaseModel], loc: Keys) -> list[str]:
    """Return the keys that are allowed in the mapping at a location."""
    models: list[type] = [model]
    for part in loc:
        annotations = [_annotations(m)[str(part)] for m in models if part in _annotations(m)]
        branch = [m for m in models if part == m.__name__ or part in _tags(m)]
        if annotations:
            models = [m for annotation in annotations for m in _models_in(annotation)]
        elif branch:
            models = branch
    return list(dict.fromkeys(name for m in models for name in _annotations(m)))


def _annotations(model: type) -> dict[str, Any]:
    """Return the types of a model's keys; models may have dataclasses in them."""
    fields = getattr(model, "model_fields", {})
    return {name: field.annotation for name, field in fields.items()} or get_type_hints(model)


def _tags(model: type) -> set[object]:
    annotations = _annotations(model).values()
    return {tag for a in annotations if get_origin(a) is Literal for tag in get_args(a)}


def _models_in(annotation: Any) -> Iterator[type]:
    if isinstance(annotation, type) and (
        is_dataclass(annotation) or issubclass(annotation, BaseModel)
    ):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)
