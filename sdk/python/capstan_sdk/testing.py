"""Native tests of an extension: its functions are plain functions, and this is the host around them.

>>> from capstan_sdk import config, testing, tool
>>> @tool
... def greet(name: str) -> str:
...     '''Greets.'''
...     return f"{config.get().get('greeting', 'Hello')}, {name}"
>>> testing.call_tool("greet", name="you").text
'Hello, you'
>>> with testing.Host(config={"greeting": "Welcome"}):
...     testing.call_tool("greet", name="you").text
'Welcome, you'
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import _dispatch, _host, _registry
from ._roles import Action, Compaction
from .process import Command, Outcome
from .types import Context, Denied, Message, ModelResponse, ToolCall, ToolResult

__all__ = [
    "Host",
    "ask_hook",
    "call_tool",
    "compress",
    "context",
    "describe",
    "fresh",
    "observe",
    "parse_plan",
    "run_command",
]


@dataclass
class Host:
    """A fake host, in force inside of a ``with``. Storage and session memory work at once; programs and the model are denied until a
    test gives one. What the extension told it and asked of it stands in its other members afterwards."""

    #: The extension's table of the configuration.
    config_table: Dict[str, Any] = field(default_factory=dict)
    #: The user has aborted.
    cancelled: bool = False
    #: What the storage holds.
    storage: Dict[str, bytes] = field(default_factory=dict)
    #: What the session memory holds.
    memory: Dict[str, str] = field(default_factory=dict)
    #: Answers for programs, which are granted with it.
    program: Optional[Callable[[Command], Outcome]] = None
    #: Answers for the model, which is granted with it.
    model: Optional[Callable[[List[Message], int], str]] = None
    #: Log lines: level and text.
    logs: List[Tuple[str, str]] = field(default_factory=list)
    #: Progress reports.
    progress: List[str] = field(default_factory=list)
    #: Own events: label and data.
    events: List[Tuple[str, Any]] = field(default_factory=list)
    #: Programs that were run or denied.
    programs: List[Command] = field(default_factory=list)
    #: Requests to the model: messages and the bound of tokens.
    completions: List[Tuple[List[Message], int]] = field(default_factory=list)

    def __init__(
        self,
        *,
        config: Optional[Dict[str, Any]] = None,
        cancelled: bool = False,
        storage: Optional[Dict[str, bytes]] = None,
        memory: Optional[Dict[str, str]] = None,
        program: Optional[Callable[[Command], Outcome]] = None,
        model: Optional[Callable[[List[Message], int], str]] = None,
    ) -> None:
        self.config_table = config or {}
        self.cancelled = cancelled
        self.storage = dict(storage or {})
        self.memory = dict(memory or {})
        self.program = program
        self.model = model
        self.logs, self.progress, self.events = [], [], []
        self.programs, self.completions = [], []
        self._before: Optional[_host.HostCalls] = None

    def __enter__(self) -> "Host":
        self._before = _host.swap(self)
        return self

    def __exit__(self, *_: Any) -> None:
        _host.swap(self._before)

    # What the extension calls.

    def write_log(self, level: str, message: str) -> None:
        self.logs.append((level, message))

    def report_progress(self, text: str) -> None:
        self.progress.append(text)

    def is_cancelled(self) -> bool:
        return self.cancelled

    def config(self) -> str:
        return json.dumps(self.config_table)

    def stored(self, key: str) -> Optional[bytes]:
        return self.storage.get(key)

    def store(self, key: str, value: bytes) -> None:
        self.storage[key] = bytes(value)

    def forget(self, key: str) -> None:
        self.storage.pop(key, None)

    def stored_keys(self, prefix: str) -> List[str]:
        return sorted((key for key in self.storage if key.startswith(prefix)), key=str.encode)

    def fact(self, key: str) -> Optional[str]:
        return self.memory.get(key)

    def set_fact(self, key: str, value: str) -> None:
        self.memory[key] = value

    def forget_fact(self, key: str) -> None:
        self.memory.pop(key, None)

    def facts(self) -> str:
        return "\n".join(f"{key}: {value}" for key, value in sorted(self.memory.items()))

    def run_program(self, command: Command) -> Outcome:
        self.programs.append(command)
        if self.program is None:
            raise Denied(f"the capability process for {command.program} is not granted")
        return self.program(command)

    def complete(self, messages: List[Message], max_tokens: int) -> ModelResponse:
        self.completions.append((messages, max_tokens))
        if self.model is None:
            raise Denied("the capability model is not granted")
        return ModelResponse(Message.assistant(self.model(messages, max_tokens)))

    def emit(self, label: str, data: str) -> None:
        self.events.append((label, json.loads(data)))


def context(**changes: Any) -> Context:
    """The first round of the first turn of a session."""
    return Context(**{"session_id": "test", "turn": 0, "round": 0, "model": "test/model", **changes})


def call_tool(tool: str, arguments: Optional[Dict[str, Any]] = None, /, **more: Any) -> ToolResult:
    """Calls a tool as the host does: the arguments travel as JSON text. An error that the model would read is a result with
    ``is_error``, as the host makes it."""
    call = ToolCall("call-1", tool, json.dumps({**(arguments or {}), **more}))
    try:
        return _dispatch.call_tool(context(), call)
    except _dispatch.Refused as refused:
        return ToolResult.of(str(refused), is_error=True)


def ask_hook(stage: str, *subjects: Any) -> Any:
    """Asks the hook of a stage (``"before_tool_call"``) about what that stage looks at, in the types of the SDK; a context is added
    where none is given. Raises what a rewriter raises, to which the host would apply the hook's failure rule."""
    name = stage.replace("_", "-")
    if name not in _registry.STAGES:
        raise ValueError(f"`{stage}` is no stage; there is {', '.join(_registry.STAGES)}")
    with_context = name != "session-lifecycle" and not any(isinstance(one, Context) for one in subjects)
    return _dispatch.ask_hook(name, *subjects, *([context()] if with_context else []))


def parse_plan(parser: str, raw: str, goal: str = "") -> List[str]:
    """Reads a plan into the descriptions of its steps. Raises an exception with the error's text."""
    return _dispatch.parse_plan(parser, raw, goal)


def compress(compressor: str, messages: List[Message], **changes: Any) -> Action:
    """Asks a compressor; ``changes`` are members of :class:`~capstan_sdk.Compaction`. By default nine tenths of a window of 1,000 tokens are
    used."""
    usual: Dict[str, Any] = {"session_id": "test", "window_tokens": 1000, "used_tokens": 900, "reserve_tokens": 100}
    return _dispatch.compress(compressor, messages, Compaction(**{**usual, **changes}))


def run_command(name: str, arguments: str = "") -> str:
    """Runs a slash command. Raises an exception with the error's text."""
    return _dispatch.run_command(name, arguments)


def observe(event: Dict[str, Any]) -> None:
    """Tells the observer of an event."""
    _dispatch.observe(json.dumps(event))


def describe() -> Dict[str, Any]:
    """What the extension says about itself, as plain data."""
    declared = _registry.current()
    return {
        "id": declared.id,
        "version": declared.version,
        "summary": declared.summary,
        "tools": {
            tool.name: {"description": tool.description, "parameters": tool.arguments.schema}
            for tool in declared.tools.values()
        },
        "hooks": {
            hook.stage: {"tools": list(hook.tools), "priority": hook.priority} for hook in declared.hooks.values()
        },
        "plan_parsers": list(declared.plan_parsers),
        "compressors": list(declared.compressors),
        "commands": {one.name: one.description for one in declared.commands.values()},
        "requests": [asdict(request) for request in declared.requests],
        "config_schema": declared.config_schema,
        "lifetime": declared.lifetime,
        "interfaces": declared.interfaces(),
    }


#: An empty registry inside of a ``with``, for a test that declares parts of its own.
fresh = _registry.fresh
