"""Declaring each part and asking it, natively."""

import unittest
from dataclasses import dataclass
from typing import Any, Dict, List, Optional

import capstan_sdk as sdk
from capstan_sdk import _dispatch, testing


class Declaring(unittest.TestCase):
    def setUp(self) -> None:
        registry = testing.fresh()
        registry.__enter__()
        self.addCleanup(registry.__exit__, None, None, None)


class Tools(Declaring):
    def test_a_tool_is_described_by_its_function(self) -> None:
        @sdk.tool(name="add-up", label="Adding")
        def add(numbers: List[int], call: sdk.Call, start: int = 0) -> int:
            """Adds numbers.

            Args:
                numbers: What is added.
            """
            call.progress("adding")
            return sum(numbers, start)

        told = testing.describe()["tools"]["add-up"]
        self.assertEqual(told["description"], "Adds numbers.")
        self.assertEqual(list(told["parameters"]["properties"]), ["numbers", "start"])
        self.assertEqual(told["parameters"]["properties"]["numbers"]["description"], "What is added.")
        with testing.Host() as host:
            self.assertEqual(testing.call_tool("add-up", numbers=[1, 2], start=3).text, "6")
        self.assertEqual(host.progress, ["adding"])
        self.assertEqual(testing.describe()["interfaces"], ["extension", "tools"])

    def test_answers_of_every_kind(self) -> None:
        @dataclass
        class Found:
            name: str
            color: Optional[str] = None

        picture = sdk.Image("image/png", b"x")
        for answer, text in [
            ("text", "text"),
            (None, "done"),
            ({"a": [1, 2]}, '{"a": [1, 2]}'),
            (Found("ü"), '{"name": "ü", "color": null}'),
            ([Found("a")], '[{"name": "a", "color": null}]'),
            (["a", "b"], '["a", "b"]'),
            (["a", picture], "a"),
            (sdk.ToolResult.of("r", is_error=True), "r"),
        ]:
            with self.subTest(answer=answer), testing.fresh():
                sdk.tool(name="t", description="d")(lambda: answer)
                self.assertEqual(testing.call_tool("t").text, text)

    def test_an_exception_is_the_error_that_the_model_reads(self) -> None:
        @sdk.tool
        def fails(how: str) -> str:
            """Fails."""
            if how == "told":
                raise sdk.ToolError("give another path")
            if how == "denied":
                return sdk.process.run("git").text
            return str({}["missing"])  # type: ignore[index]

        with testing.Host() as host:
            result = testing.call_tool("fails", how="told")
            self.assertEqual((result.is_error, result.text), (True, "give another path"))
            self.assertEqual(host.logs, [])
            self.assertEqual(testing.call_tool("fails", how="bug").text, "KeyError: 'missing'")
            self.assertTrue(any("in fails" in line for _, line in host.logs), host.logs)
            self.assertIn("not granted", testing.call_tool("fails", how="denied").text)
        self.assertIn("`how` is missing", testing.call_tool("fails").text)
        self.assertIn("no tool `other`", testing.call_tool("other").text)

    def test_what_cannot_be_a_tool_is_refused_where_it_stands(self) -> None:
        async def later() -> None:
            """Later."""

        def bare(a: int) -> None: ...
        def positional(a: int, /) -> None:
            """Positional."""

        def odd(a: complex) -> None:
            """Odd."""

        for function, error, word in [
            (later, TypeError, "asynchronous"),
            (bare, ValueError, "docstring"),
            (positional, TypeError, "by name"),
            (odd, TypeError, "`odd`: `a`: complex"),
        ]:
            with self.subTest(word=word), self.assertRaisesRegex(error, word):
                sdk.tool(function)
        with self.assertRaisesRegex(ValueError, "cannot name"):
            sdk.tool(name="a b", description="d")(lambda: None)
        sdk.tool(name="one", description="d")(bare)
        with self.assertRaisesRegex(ValueError, "declared twice"):
            sdk.tool(name="one", description="d")(odd_free)

    def test_old_arguments_are_mapped(self) -> None:
        @sdk.tool_arguments
        def renamed(tool: str, arguments: Dict[str, Any]) -> Dict[str, Any]:
            return {"path": arguments.get("file", tool)}

        self.assertEqual(_dispatch.prepare_arguments("t", '{"file": "a"}'), '{"path": "a"}')


def odd_free() -> None:
    """Something else."""


class Hooks(Declaring):
    def test_a_gate_blocks_what_it_cannot_decide(self) -> None:
        @sdk.before_tool_call(tools=["bash"], priority=-1)
        def gate(call: sdk.ToolCall) -> Any:
            return {"pass": sdk.Pass(), "nothing": None, "odd": "yes"}[call.arguments["what"]]

        ask = lambda **arguments: testing.ask_hook("before_tool_call", sdk.ToolCall.of("bash", **arguments))  # noqa: E731
        self.assertEqual(ask(what="pass"), sdk.Pass())
        for arguments, word in [({}, "KeyError"), ({"what": "nothing"}, "answered None"), ({"what": "odd"}, "none of Pass")]:
            with testing.Host() as host:
                verdict = ask(**arguments)
            self.assertIsInstance(verdict, sdk.Block)
            self.assertIn(word, verdict.reason)
            self.assertEqual(host.logs[0][0], "error")
        self.assertEqual(testing.describe()["hooks"], {"before-tool-call": {"tools": ["bash"], "priority": -1}})

    def test_arguments_are_rewritten_from_dicts_and_dataclasses(self) -> None:
        @dataclass
        class Arguments:
            command: str
            timeout: int = 5

        @sdk.before_tool_call
        def gate(call: sdk.ToolCall, context: sdk.Context) -> sdk.Verdict:
            self.assertEqual(context.session_id, "test")
            given = call.arguments_as(Arguments)
            given.timeout = 9
            return sdk.Rewrite(given)

        verdict = testing.ask_hook("before_tool_call", sdk.ToolCall.of("bash", command="ls", more=1))
        self.assertEqual(verdict, sdk.Rewrite({"command": "ls", "timeout": 9}))

    def test_a_rewriter_that_fails_raises_and_an_observer_only_logs(self) -> None:
        @sdk.before_turn
        def rewriter(message: sdk.Message) -> sdk.TurnVerdict:
            if "fail" in message.text:
                raise ValueError("no")
            return None if "leave" in message.text else sdk.Rewrite(sdk.Message.user("other"))

        @sdk.after_turn
        def watcher(answer: sdk.Message) -> None:
            raise ValueError("no")

        self.assertEqual(testing.ask_hook("before_turn", sdk.Message.user("leave")), sdk.Proceed())
        self.assertEqual(testing.ask_hook("before_turn", sdk.Message.user("x")).value.text, "other")
        with testing.Host(), self.assertRaises(ValueError):
            testing.ask_hook("before_turn", sdk.Message.user("fail"))
        with testing.Host() as host:
            testing.ask_hook("after_turn", sdk.Message.assistant("a"), [])
        self.assertIn("hook at after-turn failed", host.logs[0][1])

    def test_results_are_amended(self) -> None:
        @sdk.after_tool_call(fail_closed=True)
        def redact(call: sdk.ToolCall, result: sdk.ToolResult) -> Optional[sdk.Amendment]:
            return sdk.Amendment(result.text.replace("secret", "…")) if "secret" in result.text else None

        ask = lambda text: testing.ask_hook("after_tool_call", sdk.ToolCall.of("t"), sdk.ToolResult.of(text))  # noqa: E731
        self.assertIsNone(ask("plain"))
        self.assertEqual(ask("a secret").pieces(), [sdk.Text("a …")])

    def test_every_other_stage_has_a_decorator(self) -> None:
        told: List[str] = []
        for stage in ("model_error", "tool_error", "turn_error", "plan_step", "session_lifecycle"):
            getattr(sdk, stage)(lambda *seen, stage=stage: told.append(stage))
            testing.ask_hook(stage, "a", "b")
        sdk.before_model(lambda messages: sdk.Abort("stop"))
        sdk.after_model(lambda response: None)
        self.assertEqual(testing.ask_hook("before_model", []), sdk.Abort("stop"))
        self.assertEqual(testing.ask_hook("after_model", sdk.ModelResponse(sdk.Message.assistant("a"))), sdk.Proceed())
        self.assertEqual(told, ["model_error", "tool_error", "turn_error", "plan_step", "session_lifecycle"])
        with self.assertRaisesRegex(ValueError, "no stage"):
            testing.ask_hook("before-lunch")


class Roles(Declaring):
    def test_plans_compactions_commands_and_events(self) -> None:
        @sdk.plan_parser("lines")
        def lines(raw: str, goal: str) -> List[str]:
            return [goal, *raw.split()]

        @sdk.compressor("last")
        def last(messages: List[sdk.Message]) -> sdk.Action:
            return sdk.Replace(messages[-1:])

        @sdk.command("greet")
        def greet(arguments: str) -> str:
            """Greets.

            At length.
            """
            return f"hello {arguments}"

        seen: List[str] = []

        @sdk.observer
        def watch(event: Dict[str, Any]) -> None:
            seen.append(event["type"])

        self.assertEqual(testing.parse_plan("lines", "a b", "g"), ["g", "a", "b"])
        kept = testing.compress("last", [sdk.Message.user("1"), sdk.Message.user("2")])
        self.assertEqual(kept, sdk.Replace([sdk.Message.user("2")]))
        self.assertEqual(testing.run_command("greet", "you"), "hello you")
        self.assertEqual(testing.describe()["commands"], {"greet": "Greets."})
        testing.observe({"type": "turn_start"})
        self.assertEqual(seen, ["turn_start"])
        self.assertEqual(
            testing.describe()["interfaces"], ["extension", "plan-parser", "compressor", "observer", "commands"]
        )

    def test_a_memory_is_a_class_with_three_methods(self) -> None:
        @sdk.memory
        class Notes:
            def save(self, entry: sdk.Entry) -> str:
                sdk.kv.put("1", entry)
                return "1"

            def search(self, query: sdk.Query) -> List[sdk.Entry]:
                return [sdk.Entry(sdk.kv.load("1")["content"], id="1", score=1.0)]

            def delete(self, id: str) -> None:
                sdk.kv.remove(id)

        with testing.Host():
            self.assertEqual(_dispatch.save(sdk.Entry("milk")), "1")
            self.assertEqual(_dispatch.search(sdk.Query("milk"))[0].content, "milk")
            _dispatch.delete("1")
            self.assertEqual(sdk.kv.keys(), [])
        with testing.fresh(), self.assertRaisesRegex(TypeError, "lacks search, delete"):
            sdk.memory(type("Half", (), {"save": lambda self, entry: ""}))


class Hosts(Declaring):
    def test_services_reach_the_fake_host_and_are_recorded(self) -> None:
        def git(command: sdk.process.Command) -> sdk.process.Outcome:
            return sdk.process.Outcome(stdout=b"clean")

        with testing.Host(program=git, model=lambda messages, bound: "fine", config={"deep": True}) as host:
            self.assertEqual(sdk.process.run("git", "status", timeout_ms=5).text, "clean")
            self.assertEqual(sdk.model.ask("how?", 10), "fine")
            sdk.session_memory.set("branch", "main")
            self.assertEqual(sdk.session_memory.snapshot(), "branch: main")
            sdk.events.emit("seen", {"n": 1})
            self.assertEqual(sdk.config.get(), {"deep": True})
            self.assertFalse(sdk.is_cancelled())
        self.assertEqual(host.programs[0].arguments, ("status",))
        self.assertEqual(host.completions[0][1], 10)
        self.assertEqual(host.events, [("seen", {"n": 1})])
        with testing.Host(), self.assertRaises(sdk.Denied):
            sdk.model.ask("how?", 10)

    def test_an_extension_says_what_it_asks_for(self) -> None:
        @dataclass
        class Config:
            depth: int = 3

        sdk.extension(id="a", requests=[sdk.Request.key_value(1024, "why").optional()], config=Config, lifetime="session")
        told = testing.describe()
        self.assertEqual(told["requests"], [{"kind": "key-value", "value": 1024, "reason": "why", "required": False}])
        self.assertEqual(told["config_schema"]["properties"]["depth"], {"type": "integer", "default": 3})
        for wrong in ({"id": "A b"}, {"id": "a", "lifetime": "day"}, {"id": "a", "requests": ["all"]}, {"id": "other"}):
            with self.subTest(wrong=wrong), self.assertRaises(ValueError):
                sdk.extension(**wrong)  # type: ignore[arg-type]
        with testing.Host(config={"depth": "x"}), self.assertRaisesRegex(ValueError, "the configuration at `depth`"):
            sdk.config.get(Config)


if __name__ == "__main__":
    unittest.main()
