"""The other parts an extension can play: plan formats, compaction strategies, memories, slash commands, observers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Protocol, Sequence, Type, TypeVar, Union

from . import _registry
from ._shapes import documented
from ._tools import refuse_coroutine
from .types import Message

#: Reads a plan: what the model wrote and what it was asked, to the descriptions of the steps.
Parsing = TypeVar("Parsing", bound=Callable[..., Sequence[str]])
Running = TypeVar("Running", bound=Callable[..., str])
Watching = TypeVar("Watching", bound=Callable[[Dict[str, Any]], None])


@dataclass(frozen=True)
class Compaction:
    """What a compressor is told beside the messages."""

    session_id: str
    #: The model's context window, in tokens; 0 where it is not known.
    window_tokens: int
    #: What the messages are estimated to take, in tokens. After the model refused them as too long, at least the window.
    used_tokens: int
    #: What must stay free for the answer, in tokens.
    reserve_tokens: int
    #: What the user wants kept, when compaction was asked for by hand.
    instructions: Optional[str] = None


@dataclass(frozen=True)
class Replace:
    """Send these messages in place of the input. A call without its result, or the reverse, is refused."""

    messages: List[Message]


@dataclass(frozen=True)
class Summarize:
    """Let the host's model summarize all messages before the one with this index. A cut never separates a call from its result; the
    host moves it earlier if it would."""

    first_kept: int
    #: What the summary should keep in mind.
    instructions: str = ""


@dataclass(frozen=True)
class NewSession:
    """Go on in a new session."""

    messages: List[Message]
    #: 1 to 64 of a-z, A-Z, 0-9, - and _. ``None``: the host makes one.
    session_id: Optional[str] = None


#: What a compressor answers; ``None`` leaves everything.
Action = Union[Replace, Summarize, NewSession, None]
Compressing = TypeVar("Compressing", bound=Callable[..., Action])


@dataclass
class Entry:
    """Something that the agent remembers."""

    content: str
    metadata: Dict[str, Any] = field(default_factory=dict)
    #: ``None`` when storing something new.
    id: Optional[str] = None
    #: Only in answers: 0 (unrelated) to 1 (the same).
    score: Optional[float] = None


@dataclass(frozen=True)
class Query:
    """What is looked for in a memory."""

    text: str
    #: At most this many entries, best first.
    top_k: int = 10
    #: Leave out what scores lower, 0 to 1.
    threshold: Optional[float] = None
    #: What an entry's metadata must contain.
    filter: Optional[Dict[str, Any]] = None


class Memory(Protocol):
    """A store for what the agent remembers across sessions. Needs the power ``REMEMBER``. An exception becomes the error of the call."""

    def save(self, entry: Entry) -> str:
        """Keeps an entry, in place of the one with its id if it has one, and answers its id: 1 to 256 bytes of visible text."""
        ...

    def search(self, query: Query) -> List[Entry]:
        """The entries that fit, best first."""
        ...

    def delete(self, id: str) -> None:
        """Removes an entry. An id that does not exist is no error."""
        ...


Store = TypeVar("Store", bound=Type[Memory])


def plan_parser(name: str) -> Callable[[Parsing], Parsing]:
    """Makes a function a plan format of this name. It gets what the model wrote and, if it has a second parameter, what it was asked,
    and answers the descriptions of 1 to 1,000 steps. An exception says what could not be read, and where.

    It runs without any grant, with a frozen clock and seeded random numbers, in a fresh instance.

    >>> from capstan_sdk import plan_parser, testing
    >>> @plan_parser("lines")
    ... def lines(raw: str) -> list:
    ...     return [line for line in raw.splitlines() if line.strip()]
    >>> testing.parse_plan("lines", "look\\nfix")
    ['look', 'fix']
    """

    def declare(function: Parsing) -> Parsing:
        _named(f"the plan parser `{name}`", name, _registry.current().plan_parsers, function)
        return function

    return declare


def compressor(name: str) -> Callable[[Compressing], Compressing]:
    """Makes a function a compaction strategy of this name. It gets the messages and, if it has a second parameter, the
    :class:`Compaction`, and answers an :data:`Action`. It is called before each model call, so it answers ``None`` quickly while there is
    room. It needs the power ``COMPRESS``, and runs without any other grant, in a fresh instance.

    After an exception the host's own strategy runs where the conversation must become shorter.
    """

    def declare(function: Compressing) -> Compressing:
        _named(f"the compressor `{name}`", name, _registry.current().compressors, function)
        return function

    return declare


def command(name: str, description: Optional[str] = None) -> Callable[[Running], Running]:
    """Makes a function a slash command of this name (without the slash, ``[a-z0-9-]{1,32}``). It gets the rest of the line and answers
    what the user is shown. Without a description, the first line of the docstring is shown in lists."""

    def declare(function: Running) -> Running:
        if not re.fullmatch(r"[a-z0-9-]{1,32}", name):
            raise ValueError(f"`{name}` cannot name a command: a-z, 0-9 and -, at most 32")
        text = description or documented(function).description.partition("\n")[0]
        if not text:
            raise ValueError(f"nothing tells the user what /{name} does: give the function a docstring")
        commands = _registry.current().commands
        refuse_coroutine(function, f"the command /{name}")
        before = commands[name].function if name in commands else None
        _registry.only_once(f"the command /{name}", before, function)
        commands[name] = _registry.Command(name, text, function)
        return function

    return declare


def observer(function: Watching) -> Watching:
    """Makes a function the one that sees the turn as it happens: each event as a dict with ``type``. Nothing that it does delays or
    changes the turn. More types may come, so pass over what you do not know."""
    declared = _registry.current()
    refuse_coroutine(function, "the observer")
    _registry.only_once("the observer", declared.observer, function)
    declared.observer = function
    return function


def memory(store: Store) -> Store:
    """Makes a class with the methods of :class:`Memory` the store of what the agent remembers. It is made without arguments, once in
    each instance, so what it keeps belongs into :mod:`capstan_sdk.kv`."""
    declared = _registry.current()
    before = None if declared.memory is None else type(declared.memory)
    _registry.only_once("the memory", before, store)
    missing = [name for name in ("save", "search", "delete") if not callable(getattr(store, name, None))]
    if missing:
        raise TypeError(f"the memory {store.__name__} lacks {', '.join(missing)}")
    declared.memory = store()
    return store


def _named(what: str, name: str, among: Dict[str, Any], function: Callable[..., Any]) -> None:
    if not name or not isinstance(name, str):
        raise ValueError(f"{what} needs a name")
    refuse_coroutine(function, what)
    _registry.only_once(what, among.get(name), function)
    among[name] = function
