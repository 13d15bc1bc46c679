"""Tools that the model calls."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from dataclasses import dataclass
from enum import Enum
from typing import Any, Callable, Dict, List, Optional, TypeVar, Union, get_type_hints, overload

from . import _host, _registry
from ._shapes import documented, members_of, record_of
from .types import Content, Context, Image, Text, Thinking, ToolCall, ToolError, ToolResult

F = TypeVar("F", bound=Callable[..., Any])
#: Maps old or sloppy arguments of a tool to the present ones.
Prepare = TypeVar("Prepare", bound=Callable[[str, Dict[str, Any]], Dict[str, Any]])


@dataclass(frozen=True)
class Call:
    """One running call of a tool. A parameter of this type gets it; the model does not see that parameter."""

    #: The provider's id of this call.
    id: str
    #: The tool's name.
    tool: str
    #: Where in the conversation the call happens.
    context: Context

    def progress(self, text: str) -> None:
        """Shows a partial result. It replaces what was reported before and holds at most 64 KiB."""
        _host.current().report_progress(text)

    def is_cancelled(self) -> bool:
        """True once the user has aborted. A call that goes on is stopped a moment later."""
        return _host.current().is_cancelled()


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(
    *, name: Optional[str] = None, label: str = "", description: Optional[str] = None, sequential: bool = False
) -> Callable[[F], F]: ...
def tool(
    function: Optional[F] = None,
    /,
    *,
    name: Optional[str] = None,
    label: str = "",
    description: Optional[str] = None,
    sequential: bool = False,
) -> Union[F, Callable[[F], F]]:
    """Makes a function a tool of the model.

    The docstring is what the model reads, and the type hints are the schema and the validation: ``str``, ``int``, ``float``,
    ``bool``, ``list``, ``dict``, ``Optional``, ``Literal``, ``Enum``, dataclasses, ``TypedDict``; a default makes an argument one that may
    be left out. ``Annotated[str, "what it is"]`` describes an argument, as does an ``Args:`` section of the docstring, and
    :class:`~capstan_sdk.Limits` in it bounds it. What does not fit never reaches the function.

    It answers a text, or a :class:`~capstan_sdk.types.ToolResult`, or texts and pictures in a list, or anything that has a JSON form. An
    exception becomes the error that the model reads; raise :class:`~capstan_sdk.types.ToolError` for a text of your own alone.

    >>> from capstan_sdk import tool, testing
    >>> @tool
    ... def double(number: int) -> str:
    ...     '''Doubles a number.'''
    ...     return str(2 * number)
    >>> testing.call_tool("double", number=4).text
    '8'

    Args:
        function: The function.
        name: ``[a-zA-Z0-9_-]{1,64}``. Without it: the function's.
        label: A short name for screens. Without it: the name.
        description: What the model reads, at most 8 KiB. Without it: the docstring.
        sequential: Runs every batch that holds a call of this tool one call after another.

    Raises:
        TypeError: a parameter's type has no JSON form, or the function is asynchronous.
        ValueError: the name cannot be one, there are two of that name, or nothing tells the model what the tool does.
    """

    def declare(declared: F) -> F:
        _add(declared, name or declared.__name__, label, description, sequential)
        return declared

    return declare if function is None else declare(function)


def tool_arguments(function: Prepare) -> Prepare:
    """Makes a function the one that maps old or sloppy argument shapes to the present schema, before validation. It gets the tool's
    name and the arguments, and answers the arguments."""
    declared = _registry.current()
    _registry.only_once("tool_arguments", declared.tool_arguments, function)
    declared.tool_arguments = function
    return function


def _add(
    function: Callable[..., Any], name: str, label: str, description: Optional[str], sequential: bool
) -> None:
    refuse_coroutine(function, f"the tool `{name}`")
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name):
        raise ValueError(f"`{name}` cannot name a tool: letters, digits, _ and -, at most 64")
    tools = _registry.current().tools
    _registry.only_once(f"the tool `{name}`", tools[name].function if name in tools else None, function)
    text = documented(function).description if description is None else description
    if not text:
        raise ValueError(f"nothing tells the model what `{name}` does: give the function a docstring")
    hints = get_type_hints(function)
    takes_call = [one for one in inspect.signature(function).parameters if hints.get(one) is Call]
    try:
        arguments = record_of(members_of(function, lambda hint: hint is not Call))
    except TypeError as error:
        raise TypeError(f"the tool `{name}`: {error}") from None
    call_parameter = takes_call[0] if takes_call else None
    tools[name] = _registry.Tool(name, label, text, arguments, function, call_parameter, sequential)


def refuse_coroutine(function: Callable[..., Any], what: str) -> None:
    """The contract is synchronous: nothing would ever await the answer."""
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"{what} is asynchronous; the host calls plain functions, and runs several calls beside each other itself")


def run(context: Context, call: ToolCall) -> ToolResult:
    """Runs a call of a declared tool. Raises what the function raises, and `ToolError` for arguments that do not fit."""
    tool = _registry.current().tools.get(call.name)
    if tool is None:
        raise ToolError(f"this extension has no tool `{call.name}`")
    try:
        values = tool.arguments.read_named(call.arguments, "the arguments")
    except ValueError as error:
        raise ToolError(str(error)) from None
    if tool.call_parameter:
        values[tool.call_parameter] = Call(call.id, call.name, context)
    return as_result(tool.function(**values))


def as_result(answer: Any) -> ToolResult:
    """What a function answered, as a result."""
    if isinstance(answer, ToolResult):
        return answer
    if answer is None:
        return ToolResult.of("done")
    if isinstance(answer, str):
        return ToolResult.of(answer)
    if isinstance(answer, (Text, Image, Thinking)):
        return ToolResult([answer])
    if isinstance(answer, (list, tuple)) and answer and all(_is_content(piece) for piece in answer):
        pieces: List[Content] = [Text(piece) if isinstance(piece, str) else piece for piece in answer]
        if not all(isinstance(piece, str) for piece in answer):
            return ToolResult(pieces)
    try:
        return ToolResult.of(json.dumps(answer, ensure_ascii=False, default=plain))
    except (TypeError, ValueError) as error:
        raise TypeError(f"the answer has no JSON form: {error}") from error


def _is_content(piece: Any) -> bool:
    return isinstance(piece, (str, Text, Image, Thinking))


def plain(value: Any) -> Any:
    """What `json` does not know by itself."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
