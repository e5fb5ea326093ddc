import { listAgents, type Agent } from "../../api/agents.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { readMember } from "../../output/formats/select.ts";
import { listResource, type Resource } from "../resource.ts";

function namesOf(value: unknown): unknown[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.map((each: unknown) => readMember(each, ["name"]).value ?? null);
}

/** Agents (observed-service.md 5). Pass the `id` to `chat --agent`. */
const agents: Resource<Agent> = {
  name: "agents",
  columns: [
    { name: "id", align: "right" },
    { name: "name" },
    { name: "description" },
    { name: "tools", value: (row) => namesOf(row["tools"]) },
    { name: "document_sets", value: (row) => namesOf(row["document_sets"]), shown: false },
    { name: "sources", value: "knowledge_sources", shown: false },
    { name: "public", value: "is_public", shown: false },
    { name: "owner", value: "owner.email", shown: false },
  ],
  list: listAgents,
  /** The headers that a tool sends to its own service may hold secrets. */
  mask(agent) {
    const { tools } = agent;
    if (!Array.isArray(tools)) return agent;
    const masked = tools.map((tool: unknown) =>
      (readMember(tool, ["custom_headers"]).value ?? null) === null
        ? tool
        : { ...(tool as object), custom_headers: "***" },
    );
    return { ...agent, tools: masked };
  },
  named: ({ id, name }) => ({ id, name, text: "" }),
};

/** `agents list`: lists the agents that the caller may use, if the dialect has a listing. */
export async function agentsList(
  context: Context,
  _args: string[],
  options: GlobalFlags,
): Promise<void> {
  await listResource(context, options, agents);
}
