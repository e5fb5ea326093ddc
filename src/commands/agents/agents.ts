import { listAgents, type Agent } from "../../api/agents.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { checkFormat, writeList, type Column } from "../../output/formats/formats.ts";
import { readMember } from "../../output/formats/select.ts";
import { connect } from "../connect.ts";

const right = { align: "right" } as const;
const hidden = { shown: false } as const;

function namesOf(value: unknown): unknown[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.map((each: unknown) => readMember(each, ["name"]).value ?? null);
}

/** Columns of the listing (observed-service.md 5). Pass the `id` to `chat --agent`. */
const columns: readonly Column<Agent>[] = [
  { name: "id", value: (row) => row.id, ...right },
  { name: "name", value: (row) => row.name },
  { name: "description", value: (row) => row.description },
  { name: "tools", value: (row) => namesOf(row["tools"]) },
  { name: "document_sets", value: (row) => namesOf(row["document_sets"]), ...hidden },
  { name: "sources", value: (row) => row["knowledge_sources"], ...hidden },
  { name: "public", value: (row) => row["is_public"], ...hidden },
  { name: "owner", value: (row) => readMember(row, ["owner", "email"]).value, ...hidden },
];

/** Masks the headers that a tool sends to its own service: they may hold secrets. */
function maskAgent(agent: Agent): Agent {
  const { tools } = agent;
  if (!Array.isArray(tools)) return agent;
  const masked = tools.map((tool: unknown) =>
    (readMember(tool, ["custom_headers"]).value ?? null) === null
      ? tool
      : { ...(tool as object), custom_headers: "***" },
  );
  return { ...agent, tools: masked };
}

/** `agents list`: lists the agents that the caller may use, if the dialect has a listing. */
export async function agentsList(
  context: Context,
  _args: string[],
  options: GlobalFlags,
): Promise<void> {
  checkFormat(options);
  const connected = await connect(context, options);
  const { client, output } = connected;
  try {
    const agents = (await listAgents(client)).map(maskAgent);
    const count = await writeList(output, options, columns, agents);
    if (count === 0)
      await output.note(agents.length > 0 ? "no agents match" : "there are no agents");
    const { rememberNames } = await import("../completion/remember-names.ts");
    const names = agents.map(({ id, name }) => ({ id, name, text: "" }));
    rememberNames(context, "agents", connected, names);
  } finally {
    await client.close();
  }
}
