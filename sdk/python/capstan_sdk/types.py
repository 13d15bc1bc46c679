"""The data of the contract: messages, calls, results, and why something failed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, List, Optional, Type, TypeVar, Union

__all__ = [
    "Content",
    "Context",
    "Failure",
    "FailureKind",
    "Image",
    "Message",
    "ModelResponse",
    "Role",
    "StopReason",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolResult",
    "Usage",
    "Denied",
    "Exhausted",
    "HostError",
    "HostFailed",
    "TimedOut",
    "ToolError",
]

T = TypeVar("T")


class Role(str, Enum):
    """Who wrote a message."""

    #: Instructions of the host. Extensions may read them, a rewritten list must keep them.
    SYSTEM = "system"
    #: A person, or the program that drives the agent.
    USER = "user"
    #: The model.
    ASSISTANT = "assistant"
    #: A tool's answer to one call of the assistant.
    TOOL = "tool"


@dataclass
class Text:
    """Plain text. Control characters reach the model as they are and a terminal escaped."""

    text: str


@dataclass
class Image:
    """A picture; models that cannot see get a placeholder text instead."""

    #: ``image/png``, ``image/jpeg``, ``image/gif`` or ``image/webp``.
    media_type: str
    #: The encoded file, not base64.
    data: bytes


@dataclass
class Thinking:
    """Reasoning that the model showed. Never sent to another provider."""

    text: str


#: One piece of a message.
Content = Union[Text, Image, Thinking]


def _joined(content: List[Content]) -> str:
    return "\n".join(piece.text for piece in content if isinstance(piece, Text))


@dataclass
class ToolCall:
    """A tool call as the model made it, or as an earlier hook rewrote it.

    >>> call = ToolCall.of("bash", command="ls")
    >>> call.arguments["command"]
    'ls'
    """

    #: The provider's id of this call, unique in its message.
    id: str
    #: The tool's name.
    name: str
    #: The arguments as JSON text, already validated against the tool's schema.
    json: str

    @classmethod
    def of(cls, tool: str, /, **arguments: Any) -> "ToolCall":
        """A call with these arguments, for tests and for rewritten messages."""
        return cls("call-1", tool, json.dumps(arguments))

    @property
    def arguments(self) -> "dict[str, Any]":
        """The arguments, read anew at each use.

        Raises ``ValueError`` where the text is no JSON object, which can only be in the messages of a conversation: what a
        tool or a gate gets has been validated.
        """
        value = json.loads(self.json)
        if not isinstance(value, dict):
            raise ValueError(f"the arguments of `{self.name}` are no object")
        return value

    def arguments_as(self, kind: Type[T]) -> T:
        """The arguments as a dataclass or another type that :func:`capstan_sdk.tool` understands.

        Keys that the type does not have are passed over, because a gate rarely needs all arguments of a tool. Raises
        ``ValueError`` that says where the arguments do not fit.
        """
        from ._shapes import Strictness, shape_of

        value: T = shape_of(kind, Strictness.OPEN).read_named(self.arguments, "the arguments")
        return value


@dataclass
class ToolResult:
    """What a tool call came to.

    >>> ToolResult.of("two words").text
    'two words'
    """

    #: What the model reads.
    content: List[Content]
    #: JSON for programs and screens; kept with the session, never sent to the model. ``None``: nothing.
    details: Any = None
    #: True when the call failed; the model is told so.
    is_error: bool = False

    @classmethod
    def of(cls, text: str, /, *, details: Any = None, is_error: bool = False) -> "ToolResult":
        """A result of one text."""
        return cls([Text(text)], details, is_error)

    @property
    def text(self) -> str:
        """All texts, joined by line breaks."""
        return _joined(self.content)


@dataclass
class Message:
    """One message of the conversation."""

    role: Role
    content: List[Content]
    #: Calls that the assistant asked for. Empty on every other role.
    tool_calls: List[ToolCall] = field(default_factory=list)
    #: Only on tool messages: the id of the call that this answers.
    tool_call_id: Optional[str] = None
    #: Only on tool messages: the tool's name.
    name: Optional[str] = None

    @classmethod
    def user(cls, text: str) -> "Message":
        """What a person says."""
        return cls(Role.USER, [Text(text)])

    @classmethod
    def assistant(cls, text: str) -> "Message":
        """What the model says."""
        return cls(Role.ASSISTANT, [Text(text)])

    @property
    def text(self) -> str:
        """All texts, joined by line breaks."""
        return _joined(self.content)


@dataclass
class Usage:
    """Tokens as the provider counted them; a number it did not give is ``None``."""

    input_tokens: Optional[int] = None
    output_tokens: Optional[int] = None
    cache_read_tokens: Optional[int] = None
    cache_write_tokens: Optional[int] = None


@dataclass
class StopReason:
    """Why the model stopped."""

    #: ``stop``, ``length``, ``tool-calls``, ``error``, ``aborted`` or ``other``.
    kind: str
    #: What the provider said, with ``error`` and ``other``.
    text: str = ""


@dataclass
class ModelResponse:
    """One answer of the model."""

    message: Message
    stop_reason: StopReason = field(default_factory=lambda: StopReason("stop"))
    usage: Optional[Usage] = None
    #: The provider's summary of the reasoning, where it gives one.
    reasoning_summary: Optional[str] = None


@dataclass
class Context:
    """Where in the conversation a call happens."""

    session_id: str
    #: Turns of this session before this one.
    turn: int
    #: Model calls of this turn before this one.
    round: int
    #: The model in use, ``provider/model``.
    model: str


class FailureKind(str, Enum):
    """The part of the agent in which something failed."""

    MODEL = "model"
    SESSION = "session"
    TOOL = "tool"
    LIMIT = "limit"
    HOOK = "hook"
    MEMORY = "memory"
    PLAN = "plan"
    CONFIG = "config"
    OTHER = "other"


@dataclass
class Failure:
    """Something that failed, for extensions that watch."""

    kind: FailureKind
    #: One paragraph for people. Secrets are already redacted.
    message: str


class HostError(Exception):
    """Why a host call did not happen. Caught by nobody, it becomes the error of the running call."""


class Denied(HostError):
    """The user did not grant this; the text names the capability to ask for."""


class Exhausted(HostError):
    """A quota or limit is used up; the text names it."""


class TimedOut(HostError):
    """The deadline of the running call, or of the request itself, passed."""


class HostFailed(HostError):
    """It was allowed and failed; the text says how."""


class ToolError(Exception):
    """An error whose text alone is what the model reads, without the name of an exception before it.

    Say what is wrong and what would help: a model acts on it. Any other exception is told as ``ValueError: …``, and its
    traceback goes to the log.
    """
