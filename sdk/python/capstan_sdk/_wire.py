"""Between the types of the SDK and the generated ones of the contract. Part of components only: `wit_world` exists nowhere else."""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, List, Optional

from componentize_py_types import Err
from wit_world.imports import cancellation, config, events, key_value, log, model, process, progress, session_memory
from wit_world.imports import types as contract

from . import types
from ._tools import plain
from .process import Command, Outcome


def to_text(value: Any) -> Optional[str]:
    """Details as JSON text."""
    return None if value is None else json.dumps(value, ensure_ascii=False, default=plain)


def to_content(piece: types.Content) -> Any:
    if isinstance(piece, types.Text):
        return contract.Content_Text(piece.text)
    if isinstance(piece, types.Thinking):
        return contract.Content_Thinking(piece.text)
    return contract.Content_Image(contract.Image(piece.media_type, bytes(piece.data)))


def from_content(piece: Any) -> types.Content:
    if isinstance(piece, contract.Content_Text):
        return types.Text(piece.value)
    if isinstance(piece, contract.Content_Thinking):
        return types.Thinking(piece.value)
    return types.Image(piece.value.media_type, piece.value.data)


def to_call(call: types.ToolCall) -> Any:
    return contract.ToolCall(call.id, call.name, call.json)


def from_call(call: Any) -> types.ToolCall:
    return types.ToolCall(call.id, call.name, call.arguments)


def to_result(result: types.ToolResult) -> Any:
    content = [to_content(piece) for piece in result.content]
    return contract.ToolResult(content, to_text(result.details), bool(result.is_error))


def from_result(result: Any) -> types.ToolResult:
    details = None if result.details is None else json.loads(result.details)
    return types.ToolResult([from_content(piece) for piece in result.content], details, result.is_error)


def to_message(message: types.Message) -> Any:
    return contract.Message(
        role=contract.Role[types.Role(message.role).name],
        content=[to_content(piece) for piece in message.content],
        tool_calls=[to_call(call) for call in message.tool_calls],
        tool_call_id=message.tool_call_id,
        name=message.name,
    )


def from_message(message: Any) -> types.Message:
    return types.Message(
        types.Role[message.role.name],
        [from_content(piece) for piece in message.content],
        [from_call(call) for call in message.tool_calls],
        message.tool_call_id,
        message.name,
    )


#: The generated class of each reason to stop, by the SDK's word for it.
_STOPS: Dict[str, Any] = {
    "stop": contract.StopReason_Stop,
    "length": contract.StopReason_Length,
    "tool-calls": contract.StopReason_ToolCalls,
    "error": contract.StopReason_Error,
    "aborted": contract.StopReason_Aborted,
    "other": contract.StopReason_Other,
}


def to_response(response: types.ModelResponse) -> Any:
    kind = response.stop_reason.kind
    if kind not in _STOPS:
        raise ValueError(f"`{kind}` is no reason to stop; there is {', '.join(_STOPS)}")
    stop = _STOPS[kind](response.stop_reason.text) if kind in ("error", "other") else _STOPS[kind]()
    usage = response.usage
    return contract.ModelResponse(
        to_message(response.message),
        stop,
        usage
        and contract.Usage(
            usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens
        ),
        response.reasoning_summary,
    )


def from_response(response: Any) -> types.ModelResponse:
    kind = next(kind for kind, made in _STOPS.items() if isinstance(response.stop_reason, made))
    usage = response.usage
    return types.ModelResponse(
        from_message(response.message),
        types.StopReason(kind, getattr(response.stop_reason, "value", "")),
        usage
        and types.Usage(
            usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens
        ),
        response.reasoning_summary,
    )


def from_context(context: Any) -> types.Context:
    return types.Context(context.session_id, context.turn, context.round, context.model)


def from_failure(failure: Any) -> types.Failure:
    return types.Failure(types.FailureKind[failure.kind.name], failure.message)


def _asked(call: Callable[..., Any], *values: Any) -> Any:
    """A host call; what the contract answers as an error is raised as an exception of the SDK."""
    try:
        return call(*values)
    except Err as error:
        reason = error.value
    if isinstance(reason, contract.HostError_Denied):
        raise types.Denied(f"denied: {reason.value}")
    if isinstance(reason, contract.HostError_Exhausted):
        raise types.Exhausted(f"used up: {reason.value}")
    if isinstance(reason, contract.HostError_TimedOut):
        raise types.TimedOut("timed out")
    raise types.HostFailed(reason.value)


class WitHost:
    """The host, through the contract's imports."""

    def write_log(self, level: str, message: str) -> None:
        log.write(log.Level[level.upper()], message)

    def report_progress(self, text: str) -> None:
        progress.report(text)

    def is_cancelled(self) -> bool:
        return bool(cancellation.is_cancelled())

    def config(self) -> str:
        return str(config.get())

    def stored(self, key: str) -> Optional[bytes]:
        value = _asked(key_value.get, key)
        return None if value is None else bytes(value)

    def store(self, key: str, value: bytes) -> None:
        _asked(key_value.set, key, bytes(value))

    def forget(self, key: str) -> None:
        _asked(key_value.remove, key)

    def stored_keys(self, prefix: str) -> List[str]:
        return list(_asked(key_value.list_keys, prefix))

    def fact(self, key: str) -> Optional[str]:
        value: Optional[str] = _asked(session_memory.get, key)
        return value

    def set_fact(self, key: str, value: str) -> None:
        _asked(session_memory.set, key, value)

    def forget_fact(self, key: str) -> None:
        _asked(session_memory.remove, key)

    def facts(self) -> str:
        return str(_asked(session_memory.snapshot))

    def run_program(self, command: Command) -> Outcome:
        outcome = _asked(
            process.run,
            process.Command(
                command.program,
                list(command.arguments),
                bytes(command.stdin),
                list(command.environment.items()),
                command.directory,
                command.timeout_ms,
            ),
        )
        return Outcome(outcome.exit_code, outcome.stdout, outcome.stderr, outcome.truncated, outcome.timed_out)

    def complete(self, messages: List[types.Message], max_tokens: int) -> types.ModelResponse:
        sent = [to_message(message) for message in messages]
        return from_response(_asked(model.complete, sent, max_tokens))

    def emit(self, label: str, data: str) -> None:
        events.emit(label, data)
