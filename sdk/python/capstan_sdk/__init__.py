"""Write Capstan extensions in Python.

An extension is one WebAssembly component. It is made of plain functions with decorators that say which part each plays: a tool that the
model calls, a gate before tool calls, a plan format, and so on. The component exports exactly the parts that are there.

>>> from typing import Annotated
>>> from capstan_sdk import extension, testing, tool
>>> extension(id="word-count", summary="Counts words.")
>>> @tool
... def count_words(text: Annotated[str, "The text."], lines: Annotated[bool, "Count lines as well."] = False) -> str:
...     '''Counts the words and lines of a text.'''
...     words = f"{len(text.split())} words"
...     return f"{words}, {len(text.splitlines())} lines" if lines else words
>>> testing.call_tool("count_words", text="one two").text
'2 words'
>>> testing.call_tool("count_words", text=1).text
'the arguments at `text`: expected a text, got 1'

What is here is all that authors use; the types in it are also what an editor and a type checker read.
"""

from . import config, events, kv, log, model, process, session_memory
from ._extension import extension
from ._hooks import (
    Abort,
    Amendment,
    Ask,
    Block,
    Defer,
    ModelVerdict,
    Pass,
    Proceed,
    ResponseVerdict,
    Rewrite,
    SessionEvent,
    StepStatus,
    TurnVerdict,
    Verdict,
    after_model,
    after_tool_call,
    after_turn,
    before_model,
    before_tool_call,
    before_turn,
    model_error,
    plan_step,
    session_lifecycle,
    tool_error,
    turn_error,
)
from ._requests import Power, Request
from ._roles import (
    Action,
    Compaction,
    Entry,
    Memory,
    NewSession,
    Query,
    Replace,
    Summarize,
    command,
    compressor,
    memory,
    observer,
    plan_parser,
)
from ._services import is_cancelled, progress
from ._shapes import Limits
from ._tools import Call, tool, tool_arguments
from .types import (
    Content,
    Context,
    Denied,
    Exhausted,
    Failure,
    FailureKind,
    HostError,
    HostFailed,
    Image,
    Message,
    ModelResponse,
    Role,
    StopReason,
    Text,
    Thinking,
    TimedOut,
    ToolCall,
    ToolError,
    ToolResult,
    Usage,
)

__version__ = "0.1.0"

__all__ = [
    "Abort",
    "Action",
    "Amendment",
    "Ask",
    "Block",
    "Call",
    "Compaction",
    "Content",
    "Context",
    "Defer",
    "Denied",
    "Entry",
    "Exhausted",
    "Failure",
    "FailureKind",
    "HostError",
    "HostFailed",
    "Image",
    "Limits",
    "Memory",
    "Message",
    "ModelResponse",
    "ModelVerdict",
    "NewSession",
    "Pass",
    "Power",
    "Proceed",
    "Query",
    "Replace",
    "Request",
    "ResponseVerdict",
    "Rewrite",
    "Role",
    "SessionEvent",
    "StepStatus",
    "StopReason",
    "Summarize",
    "Text",
    "Thinking",
    "TimedOut",
    "ToolCall",
    "ToolError",
    "ToolResult",
    "TurnVerdict",
    "Usage",
    "Verdict",
    "after_model",
    "after_tool_call",
    "after_turn",
    "before_model",
    "before_tool_call",
    "before_turn",
    "command",
    "compressor",
    "config",
    "events",
    "extension",
    "is_cancelled",
    "kv",
    "log",
    "memory",
    "model",
    "model_error",
    "observer",
    "plan_parser",
    "plan_step",
    "process",
    "progress",
    "session_lifecycle",
    "session_memory",
    "tool",
    "tool_arguments",
    "tool_error",
    "turn_error",
]
