"""Hooks: functions that see a turn at one of its stages, and answer for it."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from enum import Enum
from typing import Any, Callable, Generic, List, Optional, Sequence, TypeVar, Union, overload

from . import _registry
from ._tools import plain, refuse_coroutine
from .types import Content, Failure, Message, ModelResponse, Text

V = TypeVar("V")


@dataclass(frozen=True)
class Pass:
    """A gate has no objection. Later gates and the user's permissions still decide."""


@dataclass(frozen=True)
class Proceed:
    """A rewriter leaves everything as it is. ``None`` says the same."""


@dataclass(frozen=True)
class Block:
    """A gate: do not run the call; the model reads this reason."""

    reason: str


@dataclass(frozen=True)
class Ask:
    """A gate: a person decides now, with this question; without one this is a block."""

    question: str


@dataclass(frozen=True)
class Defer:
    """A gate: not now. The model is told, the batch ends, a person may approve later."""

    reason: str


@dataclass(frozen=True)
class Abort:
    """A rewriter: end the turn, with this reason for the user."""

    reason: str


@dataclass(frozen=True)
class Rewrite(Generic[V]):
    """Take this in place of what was given. From a gate: the arguments, a dict, with the power ``REWRITE_ARGUMENTS``. At the
    stages around turn and model: the message, the messages, the response, with the power ``REWRITE_CONTEXT``."""

    value: V


@dataclass(frozen=True)
class Amendment:
    """What ``after_tool_call`` changes; each member that is given replaces that part of the result as a whole. Anything but
    ``terminate`` needs the power ``REWRITE_RESULT``."""

    content: Union[str, Sequence[Content], None] = None
    details: Any = None
    is_error: Optional[bool] = None
    #: End the turn after this batch if every result of the batch says so.
    terminate: bool = False

    def pieces(self) -> Optional[List[Content]]:
        """The content as pieces."""
        if isinstance(self.content, str):
            return [Text(self.content)]
        return None if self.content is None else list(self.content)


#: What a gate before tool calls answers.
Verdict = Union[Pass, Block, Ask, Defer, Rewrite[Any]]
#: What ``before_turn`` answers.
TurnVerdict = Union[Proceed, Abort, Rewrite[Message], None]
#: What ``before_model`` answers.
ModelVerdict = Union[Proceed, Abort, Rewrite[List[Message]], None]
#: What ``after_model`` answers.
ResponseVerdict = Union[Proceed, Abort, Rewrite[ModelResponse], None]


class SessionEvent(str, Enum):
    """What happened to a session."""

    START = "start"
    RESUME = "resume"
    #: Another branch or file is now the session.
    SWITCHED = "switched"
    COMPACTED = "compacted"
    END = "end"


@dataclass(frozen=True)
class StepStatus:
    """How a step of a plan stands."""

    #: ``running``, ``completed``, ``failed`` or ``skipped``.
    kind: str
    #: The step's answer, when it is completed.
    answer: str = ""
    #: Why it failed, when it did.
    failure: Optional[Failure] = None


Gate = TypeVar("Gate", bound=Callable[..., Verdict])
Amending = TypeVar("Amending", bound=Callable[..., Optional[Amendment]])
OnTurn = TypeVar("OnTurn", bound=Callable[..., TurnVerdict])
OnModel = TypeVar("OnModel", bound=Callable[..., ModelVerdict])
OnResponse = TypeVar("OnResponse", bound=Callable[..., ResponseVerdict])
Watching = TypeVar("Watching", bound=Callable[..., None])


@overload
def before_tool_call(function: Gate, /) -> Gate: ...
@overload
def before_tool_call(*, tools: Sequence[str] = (), priority: int = 0) -> Callable[[Gate], Gate]: ...
def before_tool_call(function: Any = None, /, *, tools: Sequence[str] = (), priority: int = 0) -> Any:
    """A gate: it is asked before a tool runs, with the :class:`~capstan_sdk.types.ToolCall` and, if it has a second parameter, the
    :class:`~capstan_sdk.types.Context`. It answers a :data:`Verdict`. It cannot allow anything that would otherwise be denied.

    An exception blocks that one call with its text; so does an answer that is no verdict, ``None`` included, because a gate
    must not open by a forgotten ``return``.

    >>> from capstan_sdk import Block, Pass, ToolCall, Verdict, before_tool_call, testing
    >>> @before_tool_call(tools=["bash"])
    ... def guard(call: ToolCall) -> Verdict:
    ...     return Block("not here") if "rm" in call.arguments["command"] else Pass()
    >>> testing.ask_hook("before_tool_call", ToolCall.of("bash", command="rm x"))
    Block(reason='not here')

    Args:
        function: The function.
        tools: Globs over tool names (``*`` and ``?``). Without them: every tool.
        priority: Lower runs earlier.
    """
    return _declare("before-tool-call", function, tools, priority)


@overload
def after_tool_call(function: Amending, /) -> Amending: ...
@overload
def after_tool_call(
    *, tools: Sequence[str] = (), priority: int = 0, fail_closed: bool = False
) -> Callable[[Amending], Amending]: ...
def after_tool_call(
    function: Any = None, /, *, tools: Sequence[str] = (), priority: int = 0, fail_closed: bool = False
) -> Any:
    """Sees each call that ran, with the :class:`~capstan_sdk.types.ToolCall`, the :class:`~capstan_sdk.types.ToolResult` as the hooks before it
    left it, and the context. It answers an :class:`Amendment`, or ``None`` to leave the result.

    Args:
        function: The function.
        tools: Globs over tool names. Without them: every tool.
        priority: Lower runs later: the stages after something run in reverse.
        fail_closed: For a redactor and its like: when it fails, the result becomes an error instead of staying as it is.
    """
    return _declare("after-tool-call", function, tools, priority, fail_closed)


@overload
def tool_error(function: Watching, /) -> Watching: ...
@overload
def tool_error(*, tools: Sequence[str] = (), priority: int = 0) -> Callable[[Watching], Watching]: ...
def tool_error(function: Any = None, /, *, tools: Sequence[str] = (), priority: int = 0) -> Any:
    """Told of each call that failed: the call, the :class:`~capstan_sdk.types.Failure`, the context."""
    return _declare("tool-error", function, tools, priority)


@overload
def before_turn(function: OnTurn, /) -> OnTurn: ...
@overload
def before_turn(*, priority: int = 0, fail_closed: bool = False) -> Callable[[OnTurn], OnTurn]: ...
def before_turn(function: Any = None, /, *, priority: int = 0, fail_closed: bool = False) -> Any:
    """Before a turn starts: the user's message and the context. ``Rewrite(message)`` takes its place, ``Abort(reason)`` keeps the turn
    from starting."""
    return _declare("before-turn", function, (), priority, fail_closed)


@overload
def before_model(function: OnModel, /) -> OnModel: ...
@overload
def before_model(*, priority: int = 0, fail_closed: bool = False) -> Callable[[OnModel], OnModel]: ...
def before_model(function: Any = None, /, *, priority: int = 0, fail_closed: bool = False) -> Any:
    """Before a model call: the messages and the context. ``Rewrite(messages)`` serves this request alone; the session keeps what
    happened. A call without its result, or the reverse, is refused."""
    return _declare("before-model", function, (), priority, fail_closed)


@overload
def after_model(function: OnResponse, /) -> OnResponse: ...
@overload
def after_model(*, priority: int = 0, fail_closed: bool = False) -> Callable[[OnResponse], OnResponse]: ...
def after_model(function: Any = None, /, *, priority: int = 0, fail_closed: bool = False) -> Any:
    """After a model call, before anything is stored: the :class:`~capstan_sdk.types.ModelResponse` and the context."""
    return _declare("after-model", function, (), priority, fail_closed)


@overload
def model_error(function: Watching, /) -> Watching: ...
@overload
def model_error(*, priority: int = 0) -> Callable[[Watching], Watching]: ...
def model_error(function: Any = None, /, *, priority: int = 0) -> Any:
    """Told of each model call that failed for good: the failure and the context."""
    return _declare("model-error", function, (), priority)


@overload
def after_turn(function: Watching, /) -> Watching: ...
@overload
def after_turn(*, priority: int = 0) -> Callable[[Watching], Watching]: ...
def after_turn(function: Any = None, /, *, priority: int = 0) -> Any:
    """Told of each turn that ended well: the answer, the tool results and the context."""
    return _declare("after-turn", function, (), priority)


@overload
def turn_error(function: Watching, /) -> Watching: ...
@overload
def turn_error(*, priority: int = 0) -> Callable[[Watching], Watching]: ...
def turn_error(function: Any = None, /, *, priority: int = 0) -> Any:
    """Told of each turn that failed: the failure and the context."""
    return _declare("turn-error", function, (), priority)


@overload
def plan_step(function: Watching, /) -> Watching: ...
@overload
def plan_step(*, priority: int = 0) -> Callable[[Watching], Watching]: ...
def plan_step(function: Any = None, /, *, priority: int = 0) -> Any:
    """Told of each change of a plan's step: its index from 0, the :class:`StepStatus` and the context."""
    return _declare("plan-step", function, (), priority)


@overload
def session_lifecycle(function: Watching, /) -> Watching: ...
@overload
def session_lifecycle(*, priority: int = 0) -> Callable[[Watching], Watching]: ...
def session_lifecycle(function: Any = None, /, *, priority: int = 0) -> Any:
    """Told when a session begins, changes or ends: its id and the :class:`SessionEvent`."""
    return _declare("session-lifecycle", function, (), priority)


def _declare(
    stage: str, function: Any, tools: Sequence[str], priority: int, fail_closed: bool = False
) -> Any:
    def declare(declared: Callable[..., Any]) -> Callable[..., Any]:
        refuse_coroutine(declared, f"the hook at {stage}")
        if isinstance(tools, str):
            raise TypeError(f'`tools` is a list of globs: ["{tools}"]')
        hooks = _registry.current().hooks
        before = hooks[stage].function if stage in hooks else None
        _registry.only_once(f"the hook at {stage}", before, declared)
        hooks[stage] = _registry.Hook(stage, declared, tuple(tools), priority, fail_closed)
        return declared

    return declare if function is None else declare(function)


#: What a stage that answers may be answered with.
_ANSWERS: "dict[str, tuple[type, ...]]" = {
    "before-tool-call": (Pass, Block, Ask, Defer, Rewrite),
    "before-turn": (Proceed, Abort, Rewrite),
    "before-model": (Proceed, Abort, Rewrite),
    "after-model": (Proceed, Abort, Rewrite),
    "after-tool-call": (Amendment, type(None)),
}


def checked(stage: str, answer: Any) -> Any:
    """The answer of a hook. Raises ``TypeError`` for one that means nothing at this stage."""
    fitting = _ANSWERS.get(stage)
    if fitting is None:
        return None
    if answer is None and Proceed in fitting:
        return Proceed()
    if not isinstance(answer, fitting):
        names = ", ".join("None" if one is type(None) else one.__name__ for one in fitting)
        raise TypeError(f"the hook at {stage} answered {answer!r}, which is none of {names}")
    if stage == "before-tool-call" and isinstance(answer, Rewrite) and not isinstance(answer.value, dict):
        value = answer.value
        if not dataclasses.is_dataclass(value):
            raise TypeError(f"the hook at {stage} rewrote the arguments to {value!r}, which is no dict")
        return Rewrite(json.loads(json.dumps(value, default=plain)))
    return answer
