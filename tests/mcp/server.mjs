// The tool of the test guest `minimal-tool`, as a server over stdio in the usual way: the protocol's official SDK on Node.
// Its first argument is the folder where the SDK is installed; imports are resolved from there.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(`${process.argv[2]}/`));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { McpServer } = await load("@modelcontextprotocol/sdk/server/mcp.js");
const { StdioServerTransport } = await load("@modelcontextprotocol/sdk/server/stdio.js");
const { z } = await load("zod");

const server = new McpServer({ name: "node", version: "1.0.0" });
server.registerTool(
  "echo",
  { description: "Answers with a text.", inputSchema: { text: z.string() } },
  async ({ text }) => ({ content: [{ type: "text", text }] }),
);
await server.connect(new StdioServerTransport());
