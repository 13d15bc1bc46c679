"""What the author's module has declared so far. A component holds one extension, so there is one registry."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from ._requests import Request
from ._shapes import Schema, Shape

#: The stages of a turn at which hooks run, as the contract writes them.
STAGES: Tuple[str, ...] = (
    "before-turn",
    "before-model",
    "after-model",
    "model-error",
    "before-tool-call",
    "after-tool-call",
    "tool-error",
    "after-turn",
    "turn-error",
    "plan-step",
    "session-lifecycle",
)


@dataclass(frozen=True)
class Tool:
    """A declared tool."""

    name: str
    label: str
    description: str
    arguments: Shape
    function: Callable[..., Any]
    #: The parameter that gets the running call, if there is one.
    call_parameter: Optional[str]
    sequential: bool


@dataclass(frozen=True)
class Hook:
    """A declared hook."""

    stage: str
    function: Callable[..., Any]
    tools: Tuple[str, ...]
    priority: int
    fail_closed: bool


@dataclass(frozen=True)
class Command:
    """A declared slash command."""

    name: str
    description: str
    function: Callable[..., Any]


@dataclass
class Declared:
    """Everything that an extension is."""

    #: Empty: the project's name.
    id: str = ""
    #: Empty: the project's version.
    version: str = ""
    summary: str = ""
    requests: List[Request] = field(default_factory=list)
    config_schema: Optional[Schema] = None
    lifetime: str = "call"
    is_described: bool = False
    tools: Dict[str, Tool] = field(default_factory=dict)
    tool_arguments: Optional[Callable[..., Any]] = None
    hooks: Dict[str, Hook] = field(default_factory=dict)
    plan_parsers: Dict[str, Callable[..., Any]] = field(default_factory=dict)
    compressors: Dict[str, Callable[..., Any]] = field(default_factory=dict)
    commands: Dict[str, Command] = field(default_factory=dict)
    observer: Optional[Callable[..., Any]] = None
    memory: Optional[Any] = None

    def interfaces(self) -> List[str]:
        """The exports of the component: exactly what is there."""
        parts = [
            ("tools", bool(self.tools)),
            ("tool-arguments", self.tool_arguments is not None),
            *((stage, stage in self.hooks) for stage in STAGES),
            ("plan-parser", bool(self.plan_parsers)),
            ("compressor", bool(self.compressors)),
            ("observer", self.observer is not None),
            ("memory", self.memory is not None),
            ("commands", bool(self.commands)),
        ]
        return ["extension", *(name for name, is_there in parts if is_there)]

    def needs_wasi(self) -> bool:
        """Whether anything that it asks for comes through the system interfaces."""
        return any(request.needs_wasi() for request in self.requests)


_current = Declared()


def current() -> Declared:
    """What is declared."""
    return _current


@contextmanager
def fresh() -> Iterator[Declared]:
    """An empty registry for the tests of one extension beside others in the same process."""
    global _current
    previous, _current = _current, Declared()
    try:
        yield _current
    finally:
        _current = previous


def only_once(what: str, before: Optional[Callable[..., Any]], function: Callable[..., Any]) -> None:
    """Refuses a second function for the same part. The same one again is a module that was loaded anew."""
    if before is None:
        return
    of = [(getattr(one, "__module__", ""), getattr(one, "__qualname__", "")) for one in (before, function)]
    if of[0] != of[1]:
        raise ValueError(f"{what} is declared twice: by {'.'.join(of[0])} and by {'.'.join(of[1])}")
