import { listAgents, type Agent } from "../../api/agents.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { checkFormat, writeList, type Column } from "../../output/formats/formats.ts";
import { readMember } from "../../output/formats/select.ts";
import { connect } from "../connect.ts";

const right = { align: "right" } as const;
const more = { shown: false } as const;

function namesOf(value: unknown): unknown[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.map((each: unknown) => readMember(each, ["name"]).value ?? null);
}

/** Columns of the listing (observed-service.md 5); `id` is what `chat --agent` takes. */
const columns: readonly Column<Agent>[] = [
  { name: "id", value: (row) => row.id, ...right },
  { name: "name", value: (row) => row.name },
  { name: "description", value: (row) => row.description },
  { name: "tools", value: (row) => namesOf(row["tools"]) },
  { name: "document_sets", value: (row) => namesOf(row["document_sets"]), ...more },
  { name: "sources", value: (row) => row["knowledge_sources"], ...more },
  { name: "public", value: (row) => row["is_public"], ...more },
  { name: "owner", value: (row) => readMember(row, ["owner", "email"]).value, ...more },
];

/** Headers that a tool of the agent sends to its own service may hold secrets. */
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

/** `agents list`: the agents that may answer the caller, where the dialect lists them. */
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
