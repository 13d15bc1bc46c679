"""Every part that an extension can play, so that each crosses the border of the sandbox in both directions."""

import random
from datetime import datetime
from typing import Any, Callable, Dict, List, Optional

from capstan_sdk import (
    Action,
    Amendment,
    Call,
    Compaction,
    Context,
    Failure,
    HostError,
    Image,
    Message,
    ModelResponse,
    ModelVerdict,
    Power,
    Replace,
    Request,
    ResponseVerdict,
    Rewrite,
    SessionEvent,
    StepStatus,
    Text,
    ToolCall,
    ToolResult,
    TurnVerdict,
    Verdict,
    after_model,
    after_tool_call,
    after_turn,
    before_model,
    before_tool_call,
    before_turn,
    command,
    compressor,
    config,
    events,
    extension,
    kv,
    log,
    model,
    model_error,
    observer,
    plan_parser,
    plan_step,
    process,
    session_lifecycle,
    session_memory,
    tool,
    tool_arguments,
    tool_error,
    turn_error,
)

extension(
    summary="Every part that an extension can play.",
    requests=[
        Request.read_directory(".", "to read").optional(),
        Request.key_value(10_000, "to keep").optional(),
        Request.session_memory("to tell").optional(),
        Request.process("git status", "to ask").optional(),
        Request.model(1000, "to think").optional(),
        Request.environment("PYTHON_EVERYTHING", "to know").optional(),
        Request.http("https://example.com", "to fetch").optional(),
        Request.power(Power.REWRITE_ARGUMENTS, "to change").optional(),
        Request.power(Power.REWRITE_RESULT, "to change").optional(),
        Request.power(Power.REWRITE_CONTEXT, "to change").optional(),
        Request.power(Power.COMPRESS, "to shorten").optional(),
    ],
    config={"type": "object", "properties": {"word": {"type": "string"}}},
)


@tool(label="Services", sequential=True)
def services(call: Call) -> ToolResult:
    """Asks everything that the host has."""
    answers: Dict[str, Any] = {"config": config.get(), "cancelled": call.is_cancelled(), "turn": call.context.turn}
    call.progress("asking")
    log.debug("asking")
    events.emit("asked", {"by": call.tool})
    attempts: Dict[str, Callable[[], Any]] = {
        "kv": _keep,
        "memory": _tell,
        "process": lambda: process.run("git", "status").text,
        "model": lambda: model.ask("hello", 10),
    }
    for name, attempt in attempts.items():
        try:
            answers[name] = attempt()
        except HostError as error:
            answers[name] = type(error).__name__
    return ToolResult([Text("asked"), Image("image/png", b"\x89PNG")], details=answers)


def _keep() -> List[Any]:
    kv.put("k", 1)
    kv.put("l", 2)
    kv.remove("l")
    return [kv.load("k"), kv.keys(), kv.get("l") is None]


def _tell() -> Optional[str]:
    session_memory.set("k", "v")
    return session_memory.get("k")


@tool
def lazy() -> str:
    """Uses what the standard library imports by itself only when it is used."""
    day = datetime.strptime("31 Jan 2026", "%d %b %Y")
    return f"{day:%Y-%m-%d} {'ä'.encode('latin-1')!r} {'ä'.encode('utf-16-le')!r} {b'x'.decode('utf-8-sig')}"


@tool
def dice() -> List[int]:
    """Answers random numbers."""
    return [random.randrange(1_000_000_000) for _ in range(3)]


@tool_arguments
def renamed(name: str, arguments: Dict[str, Any]) -> Dict[str, Any]:
    return {key: value for key, value in arguments.items() if key != "old"}


@before_tool_call(tools=["*"], priority=3)
def gate(call: ToolCall) -> Verdict:
    return Rewrite({**call.arguments, "gate": True})


@after_tool_call
def amend(call: ToolCall, result: ToolResult) -> Optional[Amendment]:
    return Amendment(f"{call.name}: {result.text}", details={"was": result.details}, is_error=not result.is_error)


@before_turn
def turn(message: Message, context: Context) -> TurnVerdict:
    return Rewrite(Message.user(f"{message.text}!"))


@before_model
def messages(given: List[Message]) -> ModelVerdict:
    return Rewrite([*given[:-1], Message(given[-1].role, [Text(f"{len(given)}: {given[-1].text}")])])


@after_model
def response(given: ModelResponse) -> ResponseVerdict:
    given.message.content = [Text(f"{given.message.text} ({given.stop_reason.kind})")]
    return Rewrite(given)


@model_error
def on_model_error(failure: Failure) -> None:
    log.info(f"model error {failure.kind.value}: {failure.message}")


@tool_error
def on_tool_error(call: ToolCall, failure: Failure) -> None:
    log.info(f"tool error {call.name}: {failure.message}")


@after_turn
def on_turn(answer: Message, results: List[ToolResult]) -> None:
    log.info(f"turn ended: {answer.text}")


@turn_error
def on_turn_error(failure: Failure) -> None:
    log.info(f"turn error: {failure.message}")


@plan_step
def on_step(step: int, status: StepStatus) -> None:
    log.info(f"step {step} {status.kind}: {status.answer}")


@session_lifecycle
def on_session(session: str, event: SessionEvent) -> None:
    log.info(f"session {event.value}")


@plan_parser("words")
def words(raw: str, goal: str) -> List[str]:
    return [f"{goal}: {word}" for word in raw.split()]


@compressor("last")
def last(given: List[Message], context: Compaction) -> Action:
    return Replace(given[-1:]) if context.window_tokens == 1 else None


@command("shout", "Answers louder.")
def shout(arguments: str) -> str:
    return arguments.upper()


@observer
def watch(event: Dict[str, Any]) -> None:
    log.info(f"saw {event['type']}")
