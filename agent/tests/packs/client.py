"""An MCP client that shares no code with the server: calls tools over standard input and output.

client.py CALLS PROGRAM ARGUMENT…

CALLS is a JSON file, a list of {"tool", "arguments"}. Prints one JSON document: the names of the tools
that the server lists, and what each call gave.
"""

import asyncio
import json
import sys
import time

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def called(session, call):
    started = time.monotonic()
    result = await session.call_tool(call["tool"], call["arguments"])
    took_s = time.monotonic() - started
    seen = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    text = "\n".join(block["text"] for block in seen["content"] if block["type"] == "text")
    value = seen.get("structuredContent")
    if value is None and not seen.get("isError", False):
        # an answer that is a list stands in the text, between the marks
        value = json.loads(text.split("\n", 1)[1].rsplit("\n", 1)[0])
    elif isinstance(value, dict):
        value.pop("_trust", None)
    return {"isError": seen.get("isError", False), "value": value, "text": text, "took_s": took_s}


async def main():
    path, program, *arguments = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        calls = json.load(file)
    server = StdioServerParameters(command=program, args=arguments)
    async with stdio_client(server) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            listed = (await session.list_tools()).tools
            seen = [await called(session, call) for call in calls]
    print(json.dumps({"tools": [tool.name for tool in listed], "calls": seen}, ensure_ascii=False))


asyncio.run(main())
