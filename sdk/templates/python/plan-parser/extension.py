"""A reader of plans: it makes steps of what a model wrote. It computes its answer from the text alone, so it is called without any
grant."""

import re
from typing import List

from capstan_sdk import ToolError, extension, plan_parser

extension(summary="Lines that begin with a number and a dot, one for each step.")


@plan_parser("numbered")
def numbered(raw: str) -> List[str]:
    found = (re.match(r"\s*\d+[.)](.*)", line) for line in raw.splitlines())
    steps = [match.group(1).strip() for match in found if match and match.group(1).strip()]
    if not steps:
        raise ToolError("there are no numbered lines; write each step as `1. What to do`")
    return steps
