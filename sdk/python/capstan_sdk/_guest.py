"""The exports of a component. The entry that a build writes takes from here the classes of the interfaces that were declared;
componentize-py finds them by their names."""

from __future__ import annotations

import importlib
import json
import random
from typing import Any, Dict, List, Optional

from componentize_py_types import Err

from . import _dispatch, _host, _preload, _registry, _wire  # noqa: F401
from ._hooks import Abort, Ask, Block, Defer, Pass, Rewrite, SessionEvent, StepStatus
from ._requests import Request
from ._roles import Compaction, Entry, NewSession, Query, Replace, Summarize

#: The modules with the types of the interfaces that this component exports.
_types: Dict[str, Any] = {}
_has_wasi = False
_is_seeded = False


def begin(id: str, version: str, has_wasi: bool) -> None:
    """Called once, while the component is made: the answers to everything that calls of the host then only read."""
    global _has_wasi
    declared = _registry.current()
    declared.id = declared.id or id
    declared.version = declared.version or version
    _has_wasi = has_wasi
    for interface in ("extension", *declared.interfaces()):
        name = interface.replace("-", "_")
        try:
            _types[interface] = importlib.import_module(f"wit_world.exports.{name}")
        except ModuleNotFoundError:
            # An interface without types of its own has no module.
            continue
    _host.swap(_wire.WitHost())


def _enter() -> None:
    """What the snapshot of a started Python cannot hold: random numbers that differ from those of every other instance."""
    global _is_seeded
    if _has_wasi and not _is_seeded:
        _is_seeded = True
        random.seed()


def _answer(work: Any) -> Any:
    """The error of a call, as the contract has it."""
    _enter()
    try:
        return work()
    except _dispatch.Refused as refused:
        raise Err(str(refused)) from None


class Extension:
    def describe(self) -> Any:
        _enter()
        module, declared = _types["extension"], _registry.current()
        executions = {True: module.Execution.SEQUENTIAL, False: module.Execution.PARALLEL}
        rules = {True: module.FailureRule.CLOSED, False: module.FailureRule.STANDARD}
        return module.Descriptor(
            id=declared.id,
            version=declared.version,
            summary=declared.summary,
            tools=[
                module.Tool(
                    tool.name,
                    tool.label,
                    tool.description,
                    json.dumps(tool.arguments.schema, ensure_ascii=False),
                    executions[tool.sequential],
                )
                for tool in declared.tools.values()
            ],
            hooks=[
                module.Hook(
                    module.Stage[hook.stage.upper().replace("-", "_")],
                    list(hook.tools),
                    hook.priority,
                    rules[hook.fail_closed],
                )
                for hook in declared.hooks.values()
            ],
            plan_parsers=list(declared.plan_parsers),
            compressors=list(declared.compressors),
            commands=[module.Command(one.name, one.description) for one in declared.commands.values()],
            requests=[module.Request(_capability(module, one), one.reason, one.required) for one in declared.requests],
            config_schema=None if declared.config_schema is None else json.dumps(declared.config_schema),
            lifetime=module.Lifetime[declared.lifetime.upper()],
        )


def _capability(module: Any, request: Request) -> Any:
    value = request.value
    if request.kind == "directory":
        path, access = value
        access = module.Access.READ_WRITE if access == "read-write" else module.Access.READ_ONLY
        return module.Capability_Directory(module.Directory(path, access))
    if request.kind == "http":
        return module.Capability_Http(module.Endpoint(value[0], list(value[1])))
    if request.kind == "secret":
        return module.Capability_Secret(module.Secret(*value))
    if request.kind == "session-memory":
        return module.Capability_SessionMemory()
    if request.kind == "power":
        return module.Capability_Power(module.Power[value.name])
    simple = {
        "environment": module.Capability_Environment,
        "process": module.Capability_Process,
        "model": module.Capability_Model,
        "key-value": module.Capability_KeyValue,
    }
    return simple[request.kind](value)


class Tools:
    def call(self, context: Any, call: Any) -> Any:
        asked = _wire.from_context(context), _wire.from_call(call)
        return _answer(lambda: _wire.to_result(_dispatch.call_tool(*asked)))


class ToolArguments:
    def prepare(self, tool: str, arguments: str) -> str:
        return str(_answer(lambda: _dispatch.prepare_arguments(tool, arguments)))


class BeforeToolCall:
    def run(self, context: Any, call: Any) -> Any:
        _enter()
        module = _types["before-tool-call"]
        verdict = _dispatch.ask_hook("before-tool-call", _wire.from_call(call), _wire.from_context(context))
        if isinstance(verdict, Pass):
            return module.Verdict_Pass()
        if isinstance(verdict, Rewrite):
            return module.Verdict_Rewrite(json.dumps(verdict.value, ensure_ascii=False))
        if isinstance(verdict, Defer):
            return module.Verdict_Defer(verdict.reason)
        if isinstance(verdict, Ask):
            return module.Verdict_Ask(verdict.question)
        assert isinstance(verdict, Block)
        return module.Verdict_Block(verdict.reason)


class AfterToolCall:
    def run(self, context: Any, call: Any, outcome: Any) -> Any:
        _enter()
        subjects = _wire.from_call(call), _wire.from_result(outcome), _wire.from_context(context)
        amendment = _dispatch.ask_hook("after-tool-call", *subjects)
        if amendment is None:
            return None
        pieces = amendment.pieces()
        return _types["after-tool-call"].Amendment(
            content=None if pieces is None else [_wire.to_content(piece) for piece in pieces],
            details=_wire.to_text(amendment.details),
            is_error=amendment.is_error,
            terminate=amendment.terminate,
        )


class ToolError:
    def run(self, context: Any, call: Any, failure: Any) -> None:
        _enter()
        subjects = _wire.from_call(call), _wire.from_failure(failure), _wire.from_context(context)
        _dispatch.ask_hook("tool-error", *subjects)


def _rewritten(stage: str, subject: Any, context: Any, to_contract: Any) -> Any:
    """Asks a rewriter; the three of them have verdicts of the same form."""
    _enter()
    module = _types[stage]
    verdict = _dispatch.ask_hook(stage, subject, _wire.from_context(context))
    if isinstance(verdict, Rewrite):
        return module.Verdict_Rewrite(to_contract(verdict.value))
    if isinstance(verdict, Abort):
        return module.Verdict_Abort(verdict.reason)
    return module.Verdict_Proceed()


class BeforeTurn:
    def run(self, context: Any, input: Any) -> Any:
        return _rewritten("before-turn", _wire.from_message(input), context, _wire.to_message)


class BeforeModel:
    def run(self, context: Any, messages: List[Any]) -> Any:
        given = [_wire.from_message(message) for message in messages]
        return _rewritten("before-model", given, context, lambda new: [_wire.to_message(message) for message in new])


class AfterModel:
    def run(self, context: Any, response: Any) -> Any:
        return _rewritten("after-model", _wire.from_response(response), context, _wire.to_response)


class ModelError:
    def run(self, context: Any, failure: Any) -> None:
        _enter()
        _dispatch.ask_hook("model-error", _wire.from_failure(failure), _wire.from_context(context))


class AfterTurn:
    def run(self, context: Any, answer: Any, results: List[Any]) -> None:
        _enter()
        given = [_wire.from_result(result) for result in results]
        _dispatch.ask_hook("after-turn", _wire.from_message(answer), given, _wire.from_context(context))


class TurnError:
    def run(self, context: Any, failure: Any) -> None:
        _enter()
        _dispatch.ask_hook("turn-error", _wire.from_failure(failure), _wire.from_context(context))


class PlanStep:
    def run(self, context: Any, step: int, status: Any) -> None:
        _enter()
        module = _types["plan-step"]
        if isinstance(status, module.Status_Completed):
            told = StepStatus("completed", answer=status.value)
        elif isinstance(status, module.Status_Failed):
            told = StepStatus("failed", failure=_wire.from_failure(status.value))
        else:
            told = StepStatus("running" if isinstance(status, module.Status_Running) else "skipped")
        _dispatch.ask_hook("plan-step", step, told, _wire.from_context(context))


class SessionLifecycle:
    def run(self, session_id: str, event: Any) -> None:
        _enter()
        _dispatch.ask_hook("session-lifecycle", session_id, SessionEvent[event.name])


class PlanParser:
    def parse(self, parser: str, raw: str, goal: str) -> Any:
        module = _types["plan-parser"]
        steps = _answer(lambda: _dispatch.parse_plan(parser, raw, goal))
        return module.Plan([module.Step(step) for step in steps])


class Compressor:
    def compress(self, compressor: str, messages: List[Any], context: Any) -> Any:
        module = _types["compressor"]
        given = [_wire.from_message(message) for message in messages]
        told = Compaction(
            context.session_id,
            context.window_tokens,
            context.used_tokens,
            context.reserve_tokens,
            context.instructions,
        )
        action = _answer(lambda: _dispatch.compress(compressor, given, told))
        if isinstance(action, Replace):
            return module.Action_Replace([_wire.to_message(message) for message in action.messages])
        if isinstance(action, Summarize):
            return module.Action_Summarize(module.SummaryOrder(action.first_kept, action.instructions))
        if isinstance(action, NewSession):
            kept = [_wire.to_message(message) for message in action.messages]
            return module.Action_NewSession(module.Redirect(kept, action.session_id))
        return module.Action_None_()


class Observer:
    def run(self, event: str) -> None:
        _enter()
        _dispatch.observe(event)


class Commands:
    def run(self, name: str, arguments: str) -> str:
        return str(_answer(lambda: _dispatch.run_command(name, arguments)))


class Memory:
    def save(self, entry: Any) -> str:
        given = Entry(entry.content, json.loads(entry.metadata or "{}"), entry.id, entry.score)
        return str(_answer(lambda: _dispatch.save(given)))

    def search(self, query: Any) -> List[Any]:
        module = _types["memory"]
        filter: Optional[Dict[str, Any]] = None if query.filter is None else json.loads(query.filter)
        asked = Query(query.text, query.top_k, query.threshold, filter)
        found = _answer(lambda: _dispatch.search(asked))
        return [
            module.Entry(entry.id, entry.content, _wire.to_text(entry.metadata) or "{}", entry.score) for entry in found
        ]

    def delete(self, id: str) -> None:
        _answer(lambda: _dispatch.delete(id))
