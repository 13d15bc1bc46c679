"""What each export does, in the types of the SDK: the same natively and in a component."""

from __future__ import annotations

import inspect
import json
import traceback
from typing import Any, Callable, List, TypeVar

from . import _registry, _tools, log
from ._hooks import Block, checked
from ._roles import Action, Compaction, Entry, NewSession, Query, Replace, Summarize
from .types import Context, HostError, Message, ToolCall, ToolError, ToolResult

T = TypeVar("T")

#: Lines of a traceback in the log: the end says where it happened.
_TRACE_LINES = 20


class Refused(Exception):
    """The text is the answer to a call that came to nothing."""


def call_tool(context: Context, call: ToolCall) -> ToolResult:
    """Runs a tool. Raises `Refused` with what the model reads."""
    return _answering(f"the tool `{call.name}`", lambda: _tools.run(context, call))


def prepare_arguments(tool: str, arguments: str) -> str:
    """Maps arguments, JSON text in and out."""
    function = _registry.current().tool_arguments
    if function is None:
        return arguments

    def prepared() -> str:
        given = json.loads(arguments)
        mapped = function(tool, given)
        if not isinstance(mapped, dict):
            raise TypeError(f"tool_arguments answered {mapped!r}, which is no dict")
        return json.dumps(mapped, ensure_ascii=False, default=_tools.plain)

    return _answering(f"the arguments of `{tool}`", prepared)


def ask_hook(stage: str, *subjects: Any) -> Any:
    """Asks a hook; `subjects` are what it looks at, the context last."""
    hook = _registry.current().hooks.get(stage)
    if hook is None:
        raise Refused(f"this extension has no hook at {stage}")
    try:
        return checked(stage, given(hook.function, *subjects))
    except Exception as error:
        _log(f"the hook at {stage}", error)
        if stage == "before-tool-call":
            # A gate that cannot decide blocks this call, with its reason, and decides about the next one again.
            return Block(told(error))
        if stage.startswith(("before-", "after-model", "after-tool-call")):
            # The host applies the hook's failure rule.
            raise
        # An observer's failure changes nothing for anyone.
        return None


def parse_plan(parser: str, raw: str, goal: str) -> List[str]:
    """Reads a plan into the descriptions of its steps."""
    function = _registry.current().plan_parsers.get(parser)
    if function is None:
        raise Refused(f"this extension has no plan parser `{parser}`")

    def parsed() -> List[str]:
        steps = given(function, raw, goal)
        if isinstance(steps, str) or not all(isinstance(step, str) for step in steps):
            raise TypeError(f"the plan parser `{parser}` answered no list of texts")
        return list(steps)

    return _answering(f"the plan parser `{parser}`", parsed)


def compress(compressor: str, messages: List[Message], context: Compaction) -> Action:
    """Asks a compressor."""
    function = _registry.current().compressors.get(compressor)
    if function is None:
        raise Refused(f"this extension has no compressor `{compressor}`")

    def compressed() -> Action:
        action = given(function, messages, context)
        if action is not None and not isinstance(action, (Replace, Summarize, NewSession)):
            raise TypeError(f"the compressor `{compressor}` answered {action!r}, which is no action")
        return action

    return _answering(f"the compressor `{compressor}`", compressed)


def run_command(name: str, arguments: str) -> str:
    """Runs a slash command."""
    command = _registry.current().commands.get(name)
    if command is None:
        raise Refused(f"this extension has no command `{name}`")
    return _answering(f"the command /{name}", lambda: str(given(command.function, arguments)))


def observe(event: str) -> None:
    """Tells the observer of an event, JSON text."""
    function = _registry.current().observer
    if function is None:
        return
    try:
        function(json.loads(event))
    except Exception as error:
        _log("the observer", error)


def save(entry: Entry) -> str:
    """Keeps an entry of the memory."""
    return _answering("the memory", lambda: str(_memory().save(entry)))


def search(query: Query) -> List[Entry]:
    """Searches the memory."""
    return _answering("the memory", lambda: list(_memory().search(query)))


def delete(id: str) -> None:
    """Removes an entry of the memory."""
    _answering("the memory", lambda: _memory().delete(id))


def given(function: Callable[..., Any], *values: Any) -> Any:
    """Calls a function with as many of the values as it has parameters: most do not care for the context."""
    parameters = inspect.signature(function).parameters.values()
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return function(*values)
    takes = sum(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in parameters)
    return function(*values[:takes])


def told(error: BaseException) -> str:
    """An exception as a model or a person reads it."""
    text = str(error)
    if isinstance(error, (ToolError, HostError)):
        return text or type(error).__name__
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _memory() -> Any:
    memory = _registry.current().memory
    if memory is None:
        raise ToolError("this extension has no memory")
    return memory


def _answering(what: str, work: Callable[[], T]) -> T:
    try:
        return work()
    except ToolError as error:
        raise Refused(told(error)) from error
    except Exception as error:
        _log(what, error)
        raise Refused(told(error)) from error


def _log(what: str, error: BaseException) -> None:
    lines: List[str] = []
    for part in traceback.format_exception(type(error), error, error.__traceback__):
        lines.extend(part.rstrip().splitlines())
    log.error(f"{what} failed: {told(error)}")
    for line in lines[-_TRACE_LINES:]:
        log.debug(line)
