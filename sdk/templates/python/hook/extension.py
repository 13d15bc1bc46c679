"""A gate: it is asked before a tool runs, and lets the call pass, blocks it, or has a person asked. It cannot allow anything that
would otherwise be denied."""

from dataclasses import dataclass, field
from typing import Annotated, List

from capstan_sdk import Block, Pass, ToolCall, Verdict, before_tool_call, config, extension


@dataclass
class Config:
    """What the user can set, in the table `[extension.{{name}}]` of the configuration."""

    protected: Annotated[List[str], "Ends of file names that are not to be written."] = field(
        default_factory=lambda: [".lock"]
    )


extension(summary="Keeps generated files from being written by hand.", config=Config)


@before_tool_call(tools=["write", "edit"])
def guard(call: ToolCall) -> Verdict:
    path = call.arguments["path"]
    for end in config.get(Config).protected:
        if path.endswith(end):
            return Block(f"Files that end in `{end}` are not written by hand.")
    return Pass()
