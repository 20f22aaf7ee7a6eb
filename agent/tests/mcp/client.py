"""An MCP client that shares no code with the server: lists and calls the tools, hears of a new one.

client.py stdio FOLDER PROGRAM ARGUMENT…
client.py http FOLDER URL [TOKEN]

FOLDER is the tools' folder: a tool is saved into it to see whether the server tells. Prints one
JSON document of what was seen.
"""

import asyncio
import json
import pathlib
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

NEW_TOOL = """name: newcomer
version: "1.0.0"
layer: ops
domain: data
description: saved while running
input_schema: {type: object, properties: {}}
output_schema: {type: object, properties: {}}
"""


async def called(session, name, arguments):
    result = await session.call_tool(name, arguments)
    seen = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    text = "\n".join(block["text"] for block in seen["content"] if block["type"] == "text")
    return {
        "isError": seen.get("isError", False),
        "structured": seen.get("structuredContent"),
        "text": text,
    }


async def talk(read, write, folder):
    changed = asyncio.Event()

    async def hear(message):
        if "ToolListChanged" in type(getattr(message, "root", message)).__name__:
            changed.set()

    async with ClientSession(read, write, message_handler=hear) as session:
        await session.initialize()
        listed = (await session.list_tools()).tools
        tools = [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in listed]
        good = await called(session, "list_assets", {"kind": "bearing"})
        wrong = await called(session, "list_assets", {"kind": 3})
        missing = await called(session, "search_equipment_manual", {"top_k": 2})
        (folder / "newcomer.yaml").write_text(NEW_TOOL)
        try:
            await asyncio.wait_for(changed.wait(), 5)
        except asyncio.TimeoutError:
            pass
        after = [tool.name for tool in (await session.list_tools()).tools]
        return {
            "tools": tools,
            "good": good,
            "wrong": wrong,
            "missing": missing,
            "changed": changed.is_set(),
            "after": after,
        }


async def main():
    kind, folder, *rest = sys.argv[1:]
    folder = pathlib.Path(folder)
    if kind == "stdio":
        server = StdioServerParameters(command=rest[0], args=rest[1:])
        async with stdio_client(server) as streams:
            seen = await talk(streams[0], streams[1], folder)
    else:
        headers = {"Authorization": f"Bearer {rest[1]}"} if len(rest) > 1 else {}
        async with create_mcp_http_client(headers=headers) as http:
            async with streamable_http_client(rest[0], http_client=http) as streams:
                seen = await talk(streams[0], streams[1], folder)
    print(json.dumps(seen, ensure_ascii=False))


asyncio.run(main())
