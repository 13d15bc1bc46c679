"""Drives `capstan --mode rpc` as a client of pi's rpc mode does, and checks every command's answer.

Usage: drive.py PROGRAM. The environment says which model is asked; it repeats what it was told last (of a long text the length),
except that it asks for the tool `bash` when it is told "use the tool" and fails in a passing way when it is told "fail". The
standard library is enough. The exit code is 0 when all is as it should be; otherwise a traceback names the check.
"""

import json
import os
import queue
import subprocess
import sys
import threading

# Nothing here takes this long; it only ends what hangs.
TIME_LIMIT = 60

COMMANDS = {
    "prompt", "steer", "follow_up", "abort", "new_session", "get_state", "get_messages", "set_model", "cycle_model",
    "get_available_models", "set_thinking_level", "cycle_thinking_level", "set_steering_mode", "set_follow_up_mode",
    "compact", "set_auto_compaction", "set_auto_retry", "abort_retry", "bash", "abort_bash", "get_session_stats",
    "export_html", "switch_session", "fork", "clone", "get_fork_messages", "get_last_assistant_text",
    "set_session_name", "get_commands",
}


class Client:
    """One run of the program. Lines are split at LF and nowhere else."""

    def __init__(self, program, *arguments):
        self.process = subprocess.Popen(
            [program, "--mode", "rpc", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.lines = queue.Queue()
        self.unread = []
        self.answered = set()
        self.next_id = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        rest = b""
        while True:
            piece = os.read(self.process.stdout.fileno(), 65536)
            if not piece:
                break
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                self.lines.put(json.loads(line.decode("utf-8")))
        self.lines.put(None)

    def send(self, command):
        self.send_bytes(json.dumps(command, ensure_ascii=False).encode("utf-8") + b"\n")

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def take(self, fits):
        """The first line that fits and was not taken yet; the others stay."""
        for at, line in enumerate(self.unread):
            if fits(line):
                return self.unread.pop(at)
        while True:
            line = self.lines.get(timeout=TIME_LIMIT)
            assert line is not None, f"stdout ended; unread: {self.unread}"
            if fits(line):
                return line
            self.unread.append(line)

    def event(self, kind):
        return self.take(lambda line: line["type"] == kind)

    def ask(self, kind, **fields):
        """Sends a command and gives its answer."""
        self.next_id += 1
        mine = self.next_id
        self.send({"id": mine, "type": kind, **fields})
        answer = self.take(lambda line: line["type"] == "response" and line.get("id") == mine)
        assert answer["command"] == kind, answer
        assert answer["success"] is ("error" not in answer), answer
        return answer

    def do(self, kind, **fields):
        """The same for one that has to succeed; gives the data."""
        answer = self.ask(kind, **fields)
        assert answer["success"], answer
        self.answered.add(kind)
        return answer.get("data")

    def refuse(self, kind, **fields):
        """The same for one that has to fail; gives the reason."""
        answer = self.ask(kind, **fields)
        assert not answer["success"] and answer["error"], answer
        return answer["error"]

    def prompt(self, text, **fields):
        """Sends a prompt and waits for the end of its run; gives the text of the answer."""
        self.do("prompt", message=text, **fields)
        self.event("agent_end")
        return self.do("get_last_assistant_text")["text"]

    def finish(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=TIME_LIMIT) == 0


def has(value, **fields):
    for name, expected in fields.items():
        assert value.get(name) == expected, (name, expected, value)


def state_and_settings(client):
    state = client.do("get_state")
    has(state, isStreaming=False, isCompacting=False, messageCount=0, pendingMessageCount=0, thinkingLevel="off")
    has(state, steeringMode="one-at-a-time", followUpMode="one-at-a-time", autoCompactionEnabled=True)
    assert os.path.isfile(state["sessionFile"]) and state["sessionId"] in state["sessionFile"], state
    assert "sessionName" not in state, state

    for name in ["id", "name", "api", "provider", "reasoning", "input", "contextWindow", "maxTokens", "cost"]:
        assert name in state["model"], name
    models = client.do("get_available_models")["models"]
    assert state["model"] in models and len(models) == 2, models
    cycled = client.do("cycle_model")
    has(cycled, thinkingLevel="off", isScoped=False)
    assert cycled["model"] != state["model"] and cycled["model"] in models, cycled
    back = {"provider": state["model"]["provider"], "modelId": state["model"]["id"]}
    assert client.do("set_model", **back) == state["model"]
    assert "nobody" in client.refuse("set_model", provider="nobody", modelId="x")

    assert client.do("set_thinking_level", level="high") is None
    assert client.event("thinking_level_changed")["level"] == "high"
    assert client.do("cycle_thinking_level") == {"level": "xhigh"}
    client.do("set_thinking_level", level="off")
    client.do("set_steering_mode", mode="all")
    client.do("set_follow_up_mode", mode="all")
    client.do("set_auto_compaction", enabled=False)
    client.do("set_session_name", name="driven from Python")
    assert client.event("session_info_changed")["name"] == "driven from Python"
    has(client.do("get_state"), steeringMode="all", followUpMode="all", autoCompactionEnabled=False)
    has(client.do("get_state"), sessionName="driven from Python")
    client.do("set_auto_compaction", enabled=True)
    assert client.do("get_commands") == {"commands": []}
    assert client.do("get_last_assistant_text") == {"text": None}


def conversation(client):
    client.do("prompt", message="hello\u2028there")
    assert client.event("agent_start") == {"type": "agent_start"}
    client.event("turn_start")
    deltas = ""
    while True:
        event = client.take(lambda line: line["type"] in ("message_update", "agent_end"))
        if event["type"] == "agent_end":
            break
        update = event["assistantMessageEvent"]
        deltas += update["delta"] if update["type"] == "text_delta" else ""
    assert deltas == "you said hello\u2028there", deltas
    assert [message["role"] for message in event["messages"]] == ["user", "assistant"], event
    assert client.do("get_last_assistant_text")["text"] == deltas
    messages = client.do("get_messages")["messages"]
    assert messages == event["messages"], messages

    picture = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    client.prompt("look", images=[picture])
    assert client.do("get_messages")["messages"][2]["content"][1] == picture

    stats = client.do("get_session_stats")
    has(stats, userMessages=2, assistantMessages=2, toolCalls=0, toolResults=0, totalMessages=4, cost=0)
    assert stats["tokens"]["total"] == sum(stats["tokens"][part] for part in ["input", "output", "cacheRead", "cacheWrite"])
    assert stats["contextUsage"]["contextWindow"] > 0, stats


def during_a_run(client):
    client.do("prompt", message="use the tool")
    # The permission is asked for, so the run stands still.
    question = client.event("extension_ui_request")
    has(question, method="select", options=["Allow once", "Allow in this session", "Deny"])
    has(client.do("get_state"), isStreaming=True)
    assert "streamingBehavior" in client.refuse("prompt", message="too early")
    client.do("steer", message="first")
    client.do("prompt", message="second", streamingBehavior="steer")
    client.do("follow_up", message="third")
    client.do("prompt", message="fourth", streamingBehavior="followUp")
    has(client.do("get_state"), pendingMessageCount=4)
    waiting = client.take(lambda line: line["type"] == "queue_update" and len(line["followUp"]) == 2)
    has(waiting, steering=["first", "second"], followUp=["third", "fourth"])
    assert "busy" in client.refuse("new_session")
    client.send({"type": "extension_ui_response", "id": question["id"], "value": "Allow once"})
    end = client.event("tool_execution_end")
    has(end, toolName="bash", isError=False)
    assert "from the tool" in end["result"]["content"][0]["text"], end
    client.event("agent_end")
    assert client.do("get_last_assistant_text")["text"] == "you said fourth"
    has(client.do("get_state"), isStreaming=False, pendingMessageCount=0)

    client.do("prompt", message="use the tool")
    client.event("extension_ui_request")
    client.do("abort")
    end = client.event("agent_end")
    assert end["messages"][-1]["stopReason"] == "aborted", end
    has(client.do("get_state"), isStreaming=False)


def retries(client):
    client.do("prompt", message="fail")
    start = client.event("auto_retry_start")
    has(start, attempt=1, maxAttempts=3)
    client.do("abort_retry")
    has(client.event("auto_retry_end"), success=False)
    client.event("agent_end")
    client.do("set_auto_retry", enabled=False)
    client.do("prompt", message="fail")
    end = client.event("agent_end")
    assert end["messages"][-1]["stopReason"] == "error", end
    client.do("set_auto_retry", enabled=True)


def shell(client):
    ran = client.do("bash", command="echo one; exit 3")
    has(ran, output="one\n", exitCode=3, cancelled=False, truncated=False)
    assert client.do("get_messages")["messages"][-1]["role"] == "bashExecution"
    client.send({"id": "long", "type": "bash", "command": "echo begun; sleep 1000"})
    update = client.take(lambda line: line["type"] == "bash_execution_update" and line["id"] == "long")
    has(update, output="begun\n")
    client.do("abort_bash")
    answer = client.take(lambda line: line.get("id") == "long" and line["type"] == "response")
    has(answer["data"], cancelled=True, output="begun\n")


def sessions(client):
    first = client.do("get_state")["sessionFile"]
    points = client.do("get_fork_messages")["messages"]
    assert points[0]["text"] == "hello\u2028there", points
    exported = client.do("export_html", outputPath="page.html")["path"]
    with open(exported, encoding="utf-8") as page:
        assert "driven from Python" in page.read()
    assert os.path.isfile(client.do("export_html")["path"])

    fork = client.do("fork", entryId=points[1]["entryId"])
    assert fork == {"text": "look", "cancelled": False}, fork
    second = client.do("get_state")["sessionFile"]
    assert [message["role"] for message in client.do("get_messages")["messages"]] == ["user", "assistant"]
    assert client.do("clone") == {"cancelled": False}
    third = client.do("get_state")["sessionFile"]
    assert client.do("new_session", parentSession=third) == {"cancelled": False}
    has(client.do("get_state"), messageCount=0)
    assert client.do("switch_session", sessionPath=first) == {"cancelled": False}
    has(client.do("get_state"), sessionFile=first)
    assert len({first, second, third}) == 3
    assert client.refuse("switch_session", sessionPath="/nowhere/x.jsonl")
    assert client.refuse("fork", entryId="nothing")


def compaction(client):
    assert client.refuse("compact", customInstructions=7)
    client.do("new_session")
    for n in range(3):
        client.prompt(f"{n} " + "many words " * 5000)
    data = client.do("compact", customInstructions="keep it short")
    assert data["summary"] and data["firstKeptEntryId"] and data["tokensBefore"] > 0, data
    has(client.event("compaction_start"), reason="manual")
    end = client.event("compaction_end")
    has(end, reason="manual", aborted=False)
    assert end["result"]["summary"] == data["summary"], end
    first = client.do("get_messages")["messages"][0]
    has(first, role="compactionSummary", summary=data["summary"])
    assert client.do("get_session_stats")["contextUsage"]["tokens"] is None


def framing(client):
    for bad in [b"{not json\n", b"\n", b"[]\n", b'{"type":"\xff"}\n']:
        client.send_bytes(bad)
        has(client.event("response"), command="parse", success=False)
    client.send({"id": {"any": "kind"}, "type": "make_tea"})
    has(client.event("response"), id={"any": "kind"}, command="make_tea", success=False)
    client.send({"id": None, "type": "prompt"})
    has(client.event("response"), id=None, command="prompt", success=False)
    text = "\u2028\u2029\u0085" + "é" * 200_000
    line = json.dumps({"id": 0, "type": "prompt", "message": text}, ensure_ascii=False).encode("utf-8") + b"\r\n"
    for at in range(0, len(line), 4093):
        client.send_bytes(line[at : at + 4093])
    has(client.event("response"), id=0, command="prompt", success=True)
    client.event("agent_end")
    assert client.do("get_last_assistant_text")["text"] == f"you said {len(text)} characters"


def main():
    client = Client(sys.argv[1], "--permissions", "ask")
    try:
        for part in [state_and_settings, conversation, during_a_run, retries, shell, sessions, compaction, framing]:
            part(client)
            print(f"{part.__name__}: as it should be")
        missing = COMMANDS - client.answered
        assert not missing, f"not driven: {missing}"
        client.finish()
    finally:
        # After a failed check it still runs.
        client.process.kill()


if __name__ == "__main__":
    main()
