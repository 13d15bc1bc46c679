"""From type hints to JSON Schema, and from JSON to values of those types with errors that name the place."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
import types
import typing
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Tuple, Union, get_args, get_origin, get_type_hints

#: What a schema is.
Schema = Dict[str, Any]
#: Reads a JSON value that stands at a path.
Reader = Callable[[Any, str], Any]

_MISSING = object()


class Strictness(enum.Enum):
    """What happens to keys that a type does not have."""

    #: They are an error.
    CLOSED = enum.auto()
    #: They are passed over.
    OPEN = enum.auto()


class Misfit(ValueError):
    """A value that does not fit its type."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"at `{path}`: {problem}" if path else problem)


@dataclass(frozen=True)
class Limits:
    """Bounds of an argument, for ``Annotated``: checked before the function is called, and told to the model.

    >>> from typing import Annotated
    >>> Percent = Annotated[int, "How much of it.", Limits(minimum=0, maximum=100)]
    """

    #: The least number.
    minimum: Optional[float] = None
    #: The greatest number.
    maximum: Optional[float] = None
    #: The least length of a text or list.
    min_length: Optional[int] = None
    #: The greatest length of a text or list.
    max_length: Optional[int] = None
    #: A regular expression that a text must contain; begin with ``^`` and end with ``$`` for the whole text.
    pattern: Optional[str] = None


@dataclass(frozen=True)
class Shape:
    """One type, both ways."""

    schema: Schema
    read: Reader

    def read_named(self, value: Any, what: str) -> Any:
        """Reads a whole value; an error names it."""
        try:
            return self.read(value, "")
        except Misfit as error:
            text = str(error)
            raise ValueError(f"{what} {text}" if text.startswith("at ") else f"{what}: {text}") from None


@dataclass(frozen=True)
class Member:
    """A parameter, a field, a key."""

    name: str
    hint: Any
    #: ``None`` where a value must be given.
    default: Optional[Callable[[], Any]]
    description: Optional[str] = None


def shape_of(hint: Any, strictness: Strictness = Strictness.CLOSED) -> Shape:
    """The shape of a type hint. Raises ``TypeError`` for a type that has none in JSON."""
    return _Reading(strictness, ()).shape(hint)


def record_of(members: List[Member], strictness: Strictness = Strictness.CLOSED) -> Shape:
    """The shape of named members, read into a dict."""
    return _Reading(strictness, ()).record(members, lambda values: values)


@dataclass(frozen=True)
class _Reading:
    strictness: Strictness
    #: The dataclasses and typed dicts around this place.
    within: Tuple[Any, ...]

    def shape(self, hint: Any) -> Shape:
        origin, arguments = get_origin(hint), get_args(hint)
        if hint is Any or hint is object or hint is inspect.Parameter.empty:
            return Shape({}, lambda value, path: value)
        if hint in _PLAIN:
            return _PLAIN[hint]
        if origin is typing.Annotated:
            return self.annotated(arguments[0], arguments[1:])
        if origin is Union or origin is types.UnionType:
            return self.union(arguments)
        if origin is typing.Literal:
            return _one_of(list(arguments), list(arguments))
        if hint in (list, List) or origin in (list, typing.get_origin(typing.Sequence[int])):
            return self.items(arguments[0] if arguments else Any, list)
        if hint in (set, frozenset) or origin in (set, frozenset):
            kind = hint if origin is None else origin
            return self.items(arguments[0] if arguments else Any, kind, unique=True)
        if hint is tuple or origin is tuple:
            return self.row(arguments)
        if hint in (dict, Dict) or origin in (dict, typing.get_origin(typing.Mapping[str, int])):
            return self.table(arguments)
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return _one_of([member.value for member in hint], list(hint))
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            return self.inner(hint).record(_fields(hint), lambda values: hint(**values), _comment(hint))
        if typing.is_typeddict(hint):
            return self.inner(hint).record(_keys(hint), lambda values: values, _comment(hint))
        if isinstance(hint, typing.NewType):
            return self.shape(hint.__supertype__)
        raise TypeError(
            f"{_name(hint)} has no JSON form; use str, int, float, bool, list, dict, Optional, Literal, an Enum, "
            "a dataclass or a TypedDict"
        )

    def inner(self, kind: Any) -> "_Reading":
        if kind in self.within:
            raise TypeError(f"{_name(kind)} contains itself, which a schema without references cannot say")
        return dataclasses.replace(self, within=(*self.within, kind))

    def annotated(self, hint: Any, notes: Tuple[Any, ...]) -> Shape:
        shape = self.shape(hint)
        for note in notes:
            if isinstance(note, str):
                shape = Shape({**shape.schema, "description": _unwrapped(note)}, shape.read)
            elif isinstance(note, Limits):
                shape = _limited(shape, note)
        return shape

    def union(self, arguments: Tuple[Any, ...]) -> Shape:
        present = [argument for argument in arguments if argument is not type(None)]
        shapes = [self.shape(argument) for argument in present]
        is_optional = len(present) < len(arguments)
        if len(shapes) == 1:
            schema = shapes[0].schema
        else:
            schema = {"anyOf": [shape.schema for shape in shapes]}

        def read(value: Any, path: str) -> Any:
            if value is None and is_optional:
                return None
            problems: List[Misfit] = []
            for shape in shapes:
                try:
                    return shape.read(value, path)
                except Misfit as problem:
                    problems.append(problem)
            if len(problems) == 1:
                raise problems[0]
            kinds = " or ".join(_name(argument) for argument in present)
            raise Misfit(path, f"{_shown(value)} is none of {kinds}")

        return Shape(schema, read)

    def items(self, item: Any, kind: Callable[[List[Any]], Any], unique: bool = False) -> Shape:
        inner = self.shape(item)
        schema: Schema = {"type": "array", "items": inner.schema}
        if unique:
            schema["uniqueItems"] = True

        def read(value: Any, path: str) -> Any:
            if not isinstance(value, list):
                raise Misfit(path, f"expected a list, got {_shown(value)}")
            return kind([inner.read(item, f"{path}[{at}]") for at, item in enumerate(value)])

        return Shape(schema, read)

    def row(self, arguments: Tuple[Any, ...]) -> Shape:
        if len(arguments) == 2 and arguments[1] is Ellipsis or not arguments:
            return self.items(arguments[0] if arguments else Any, tuple)
        inner = [self.shape(argument) for argument in arguments]

        def read(value: Any, path: str) -> Any:
            if not isinstance(value, list) or len(value) != len(inner):
                raise Misfit(path, f"expected a list of {len(inner)}, got {_shown(value)}")
            return tuple(shape.read(item, f"{path}[{at}]") for at, (shape, item) in enumerate(zip(inner, value)))

        items = {"prefixItems": [shape.schema for shape in inner], "minItems": len(inner), "maxItems": len(inner)}
        return Shape({"type": "array", **items}, read)

    def table(self, arguments: Tuple[Any, ...]) -> Shape:
        if arguments and arguments[0] is not str:
            raise TypeError("the keys of a dict are str: JSON has no others")
        inner = self.shape(arguments[1] if arguments else Any)

        def read(value: Any, path: str) -> Any:
            if not isinstance(value, dict):
                raise Misfit(path, f"expected an object, got {_shown(value)}")
            return {key: inner.read(item, _below(path, key)) for key, item in value.items()}

        return Shape({"type": "object", "additionalProperties": inner.schema or True}, read)

    def record(
        self, members: List[Member], make: Callable[[Dict[str, Any]], Any], comment: Optional[str] = None
    ) -> Shape:
        shapes: Dict[str, Tuple[Member, Shape]] = {}
        properties: Schema = {}
        for member in members:
            try:
                shape = self.shape(member.hint)
            except TypeError as error:
                raise TypeError(f"`{member.name}`: {error}") from None
            schema = dict(shape.schema)
            if member.description and "description" not in schema:
                schema["description"] = _unwrapped(member.description)
            default = _as_json(member.default() if member.default else None)
            if default is not _MISSING and default is not None:
                schema["default"] = default
            properties[member.name] = schema
            shapes[member.name] = (member, shape)
        schema = {"type": "object", "properties": properties}
        if comment:
            schema["description"] = comment
        required = [member.name for member in members if member.default is None]
        if required:
            schema["required"] = required
        if self.strictness is Strictness.CLOSED:
            schema["additionalProperties"] = False

        def read(value: Any, path: str) -> Any:
            if not isinstance(value, dict):
                raise Misfit(path, f"expected an object, got {_shown(value)}")
            values: Dict[str, Any] = {}
            for name, (member, shape) in shapes.items():
                if name in value:
                    values[name] = shape.read(value[name], _below(path, name))
                elif member.default is None:
                    raise Misfit(path, f"`{name}` is missing")
            unknown = [key for key in value if key not in shapes]
            if unknown and self.strictness is Strictness.CLOSED:
                known = ", ".join(f"`{name}`" for name in shapes) or "none"
                raise Misfit(path, f"`{unknown[0]}` is not known; there is {known}")
            return make(values)

        return Shape(schema, read)


def members_of(function: Callable[..., Any], is_argument: Callable[[Any], bool]) -> List[Member]:
    """The parameters of a function that are arguments, with what its docstring says about them."""
    hints = get_type_hints(function, include_extras=True)
    told = documented(function).parameters
    members = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"`{name}` has no name in a call; arguments are given by name")
        hint = hints.get(name, parameter.annotation)
        if not is_argument(hint):
            continue
        default = parameter.default
        given = None if default is parameter.empty else (lambda value=default: value)
        members.append(Member(name, hint, given, told.get(name)))
    return members


@dataclass(frozen=True)
class Documented:
    """A docstring in its parts."""

    description: str
    parameters: Dict[str, str]


_SECTION = re.compile(r"^(Args|Arguments|Parameters|Returns|Raises|Yields|Example|Examples|Note|Notes):$")
_ENTRY = re.compile(r"^ {1,8}(\w+)(?: \([^)]*\))?: (.*)$")


def documented(thing: Any) -> Documented:
    """The text before the first section, and the entries of ``Args:``."""
    description: List[str] = []
    parameters: Dict[str, str] = {}
    section: Optional[str] = None
    last: Optional[str] = None
    for line in (inspect.getdoc(thing) or "").splitlines():
        begun = _SECTION.match(line)
        if begun:
            section = begun.group(1)
        elif section is None:
            description.append(line)
        elif section in ("Args", "Arguments", "Parameters"):
            entry = _ENTRY.match(line)
            if entry:
                last = entry.group(1)
                parameters[last] = entry.group(2)
            elif last and line.strip():
                parameters[last] += " " + line.strip()
    return Documented(_unwrapped("\n".join(description)), parameters)


def _unwrapped(text: str) -> str:
    """A comment with one line for each paragraph and list item."""
    paragraphs: List[str] = []
    for line in text.strip().splitlines():
        stands_alone = not line.strip() or line.startswith((" ", "-", "*", "|", "#", ">"))
        if stands_alone or not paragraphs or not paragraphs[-1].strip():
            paragraphs.append(line.rstrip())
        else:
            paragraphs[-1] += " " + line.strip()
    return "\n".join(paragraphs)


def _fields(kind: type) -> List[Member]:
    hints = get_type_hints(kind, include_extras=True)
    told = documented(kind).parameters
    members = []
    for field in dataclasses.fields(kind):
        if not field.init:
            continue
        default: Optional[Callable[[], Any]] = None
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory
        elif field.default is not dataclasses.MISSING:
            default = lambda value=field.default: value  # noqa: E731
        members.append(Member(field.name, hints[field.name], default, told.get(field.name)))
    return members


def _keys(kind: Any) -> List[Member]:
    told = documented(kind).parameters
    members = []
    for name, hint in get_type_hints(kind, include_extras=True).items():
        is_required = name in kind.__required_keys__
        # `Required` and `NotRequired` are wrappers that only such a class has.
        while str(get_origin(hint)).rpartition(".")[2] in ("Required", "NotRequired"):
            hint = get_args(hint)[0]
        members.append(Member(name, hint, None if is_required else (lambda: None), told.get(name)))
    return members


def _comment(kind: Any) -> Optional[str]:
    text = kind.__doc__
    # A dataclass without a docstring gets its own signature as one, and a typed dict that of dict.
    if not text or text.startswith(f"{kind.__name__}(") or text == dict.__doc__:
        return None
    return documented(kind).description


def _scalar(kind: str, fits: Callable[[Any], bool], convert: Callable[[Any], Any], named: str) -> Shape:
    def read(value: Any, path: str) -> Any:
        if not fits(value):
            raise Misfit(path, f"expected {named}, got {_shown(value)}")
        return convert(value)

    return Shape({"type": kind}, read)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_PLAIN: Dict[Any, Shape] = {
    str: _scalar("string", lambda value: isinstance(value, str), str, "a text"),
    bool: _scalar("boolean", lambda value: isinstance(value, bool), bool, "true or false"),
    # 3.0 is a whole number in JSON.
    int: _scalar("integer", lambda value: _is_number(value) and value == value // 1, int, "a whole number"),
    float: _scalar("number", _is_number, float, "a number"),
    type(None): _scalar("null", lambda value: value is None, lambda value: None, "null"),
}


def _one_of(values: List[Any], members: List[Any]) -> Shape:
    def read(value: Any, path: str) -> Any:
        for known, member in zip(values, members):
            # `True == 1`, and they are not the same argument.
            if known == value and isinstance(known, bool) == isinstance(value, bool):
                return member
        raise Misfit(path, f"{_shown(value)} is none of {', '.join(_shown(known) for known in values)}")

    schema: Schema = {"enum": values}
    if all(isinstance(value, str) for value in values):
        schema = {"type": "string", **schema}
    return Shape(schema, read)


def _limited(shape: Shape, limits: Limits) -> Shape:
    schema = dict(shape.schema)
    of_list = schema.get("type") == "array"
    words = ("minItems", "maxItems") if of_list else ("minLength", "maxLength")
    pairs = [("minimum", limits.minimum), ("maximum", limits.maximum), ("pattern", limits.pattern)]
    pairs += [(words[0], limits.min_length), (words[1], limits.max_length)]
    schema.update({key: bound for key, bound in pairs if bound is not None})

    def read(value: Any, path: str) -> Any:
        result = shape.read(value, path)
        if value is None:
            return result
        if limits.minimum is not None and result < limits.minimum:
            raise Misfit(path, f"{_shown(value)} is less than {limits.minimum}")
        if limits.maximum is not None and result > limits.maximum:
            raise Misfit(path, f"{_shown(value)} is more than {limits.maximum}")
        if limits.min_length is not None and len(result) < limits.min_length:
            raise Misfit(path, f"{_shown(value)} is shorter than {limits.min_length}")
        if limits.max_length is not None and len(result) > limits.max_length:
            raise Misfit(path, f"{_shown(value)} is longer than {limits.max_length}")
        if limits.pattern is not None and not re.search(limits.pattern, result):
            raise Misfit(path, f"{_shown(value)} does not match {limits.pattern}")
        return result

    return Shape(schema, read)


def _as_json(value: Any) -> Any:
    """A default as it stands in a schema, or `_MISSING` if JSON cannot say it."""
    if isinstance(value, enum.Enum):
        return value.value
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, (list, tuple)):
        items = [_as_json(item) for item in value]
        return _MISSING if any(item is _MISSING for item in items) else items
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        pairs = {key: _as_json(item) for key, item in value.items()}
        return _MISSING if any(item is _MISSING for item in pairs.values()) else pairs
    return _MISSING


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _shown(value: Any) -> str:
    """A value in an error text, short."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= 40 else f'"{value[:39]}…"'
    return {None: "null", True: "true", False: "false"}.get(value, str(value)) if not _is_number(value) else str(value)


def _name(hint: Any) -> str:
    return getattr(hint, "__name__", None) or str(hint)
