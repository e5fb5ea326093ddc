import type { Tool } from "../../api/schemas.ts";
import { listTools } from "../../api/tools.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { checkFormat, writeList, type Column } from "../../output/formats/formats.ts";
import { connect } from "../connect.ts";

const right = { align: "right" } as const;
const hidden = { shown: false } as const;

/** Columns of the listing. Pass `id` to `chat --tool` and `--force-tool`. */
const columns: readonly Column<Tool>[] = [
  { name: "id", value: (row) => row.id, ...right },
  { name: "name", value: (row) => row.name },
  { name: "display_name", value: (row) => row.display_name },
  { name: "description", value: (row) => row.description },
  { name: "built_in", value: (row) => row.in_code_tool_id, ...hidden },
  { name: "enabled", value: (row) => row.enabled, ...hidden },
];

/**
 * Masks the headers that an action sends to its own service: they may hold secrets
 * (observed-service.md 5).
 */
function maskTool(tool: Tool): Tool {
  const headers = tool["custom_headers"];
  return headers === null || headers === undefined ? tool : { ...tool, custom_headers: "***" };
}

/** `tools list`: lists the tools that an agent may use in an answer. */
export async function toolsList(
  context: Context,
  _args: string[],
  options: GlobalFlags,
): Promise<void> {
  checkFormat(options);
  const connected = await connect(context, options);
  const { client, output } = connected;
  try {
    const tools = (await listTools(client)).map(maskTool);
    const count = await writeList(output, options, columns, tools);
    if (count === 0) await output.note(tools.length > 0 ? "no tools match" : "there are no tools");
    const { rememberNames } = await import("../completion/remember-names.ts");
    const names = tools.map(({ id, name, display_name }) => ({
      id,
      name: display_name || name,
      text: "",
    }));
    rememberNames(context, "tools", connected, names);
  } finally {
    await client.close();
  }
}
