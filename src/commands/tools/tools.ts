import { listTools } from "../../api/tools.ts";
import type { Tool } from "../../api/schemas.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { listResource, type Resource } from "../resource.ts";

/** Tools. Pass `id` to `chat --tool` and `--force-tool`. */
const tools: Resource<Tool> = {
  name: "tools",
  columns: [
    { name: "id", align: "right" },
    { name: "name" },
    { name: "display_name" },
    { name: "description" },
    { name: "built_in", value: "in_code_tool_id", shown: false },
    { name: "enabled", shown: false },
  ],
  list: (client) => listTools(client),
  // The headers that an action sends to its own service may hold secrets (observed-service.md 5).
  mask(tool) {
    const headers = tool["custom_headers"];
    return headers === null || headers === undefined ? tool : { ...tool, custom_headers: "***" };
  },
  named: ({ id, name, display_name }) => ({ id, name: display_name || name, text: "" }),
};

/** `tools list`: lists the tools that an agent may use in an answer. */
export async function toolsList(
  context: Context,
  _args: string[],
  options: GlobalFlags,
): Promise<void> {
  await listResource(context, options, tools);
}
