"""Drives a server with the protocol's official SDK for Python and prints what came of it as JSON.

    client.py MODE PROGRAM [ARGUMENT ...]     over stdin and stdout of a program
    client.py MODE URL TOKEN                  over HTTP

MODE is `legacy` (a conversation that is opened) or `auto` (the newest revision that both speak). The server offers the test
guest `probe`.
"""

import asyncio
import json
import os
import sys
import time

from mcp import Client, StdioServerParameters


def transport(target, rest):
    if not target.startswith("http"):
        return StdioServerParameters(command=target, args=rest, env=dict(os.environ))
    import httpx2 as httpx
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {rest[0]}"}
    return streamable_http_client(target, http_client=httpx.AsyncClient(headers=headers, timeout=30))


async def main(mode, target, rest):
    out = {}
    async with Client(transport(target, rest), mode=mode) as client:
        out["revision"] = client.protocol_version
        out["server"] = client.server_info.name
        listed = await client.list_tools()
        out["tools"] = sorted(tool.name for tool in listed.tools)

        reports = []

        async def report(progress, total, message):
            reports.append([progress, message])

        steps = {"steps": [{"try": "progress", "text": "half of it"}, {"try": "arguments"}]}
        called = await client.call_tool("probe", steps, progress_callback=report)
        out["call"] = {"is_error": called.is_error, "text": called.content[0].text}
        out["reports"] = reports

        spinning = asyncio.Event()

        async def spins(progress, total, message):
            spinning.set()

        steps = {"steps": [{"try": "progress", "text": "spinning"}, {"try": "spin"}]}
        call = asyncio.create_task(client.call_tool("probe", steps, progress_callback=spins))
        await asyncio.wait_for(spinning.wait(), 60)
        call.cancel()
        try:
            await call
            out["cancelled"] = False
        except asyncio.CancelledError:
            out["cancelled"] = True
        # The server serves on.
        began = time.monotonic()
        again = await client.call_tool("probe", {"steps": [{"try": "arguments"}]})
        out["after"] = again.is_error
        out["seconds"] = time.monotonic() - began
    print(json.dumps(out))


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
