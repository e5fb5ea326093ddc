import { listAgents } from "../../../../api/agents.ts";
import type { Tool } from "../../../../api/schemas.ts";
import { listTools } from "../../../../api/tools.ts";
import { CliError } from "../../../../errors.ts";
import { neutraliseLine } from "../../../../output/terminal/neutralise.ts";
import { displayWidth, fit } from "../../../../output/terminal/width.ts";
import { bold, dim, type Text } from "../../../../output/terminal/text.ts";
import { checkFiles, describeFiles } from "../../files.ts";
import { splitModel } from "../../options/options.ts";
import { typedPath } from "../saving.ts";
import { leaveSession, type Talk, type Work } from "../talk.ts";

const shortestDescription = 10;

function entry(
  isChosen: boolean,
  id: number,
  name: string,
  description: string,
  width: number,
): Text[] {
  const line = fit(`${String(id).padStart(4)}  ${neutraliseLine(name)}`, width - 3);
  const room = Math.max(0, width - 5 - displayWidth(line));
  const more = room < shortestDescription ? "" : fit(neutraliseLine(description), room);
  return [
    isChosen ? "* " : "  ",
    isChosen ? bold(line) : line,
    dim(more === "" ? "" : `  ${more}`),
  ];
}

/** The only item whose id or name is `wanted`. Throws CliError `not-found`. */
function pick<Item extends { id: number; name: string }>(
  items: readonly Item[],
  wanted: string,
  what: string,
): Item {
  const name = wanted.toLowerCase();
  const found = items.filter(
    (each) => String(each.id) === wanted || each.name.toLowerCase() === name,
  );
  const [only] = found;
  if (only && found.length === 1) return only;
  throw new CliError(
    "not-found",
    `${found.length === 0 ? "no" : "more than one"} ${what} ${wanted}`,
    {
      hints: [`/${what} lists them`],
    },
  );
}

/** `/agent`: lists the agents, or selects the agent for a new session. */
export async function chooseAgent(talk: Talk, work: Work, argument: string): Promise<void> {
  const { output, settings } = talk;
  const isKnown = work.client.dialect.paths.agents !== undefined;
  if (argument === "") {
    if (!isKnown)
      return output.note(dim("this service lists no agents: /agent and an id selects one"));
    for (const { id, name, description } of await listAgents(work.client)) {
      await output.line(
        ...entry(id === settings.personaId, id, name, description ?? "", output.columns()),
      );
    }
    return;
  }
  if (argument === "default") delete settings.personaId;
  else if (isKnown) settings.personaId = pick(await listAgents(work.client), argument, "agent").id;
  else if (/^-?\d{1,9}$/.test(argument)) settings.personaId = Number(argument);
  else throw new CliError("usage", `this service lists no agents: use an id, not ${argument}`);
  leaveSession(talk);
  await output.note(dim(`agent ${argument} answers from now on, in a new session`));
}

/** `/model`: shows or selects the model. */
export async function chooseModel(talk: Talk, _work: Work, argument: string): Promise<void> {
  const { output, settings } = talk;
  if (argument === "default") {
    delete settings.modelProvider;
    delete settings.modelVersion;
  } else if (argument !== "" && !argument.includes("/")) {
    throw new CliError("usage", `/model: "${argument}" is not PROVIDER/VERSION`);
  } else if (argument !== "") Object.assign(settings, splitModel(argument, "/model"));
  const { modelProvider, modelVersion } = settings;
  const asked = [modelProvider, modelVersion].filter(Boolean).join("/") || "the service's default";
  const reported = talk.exchanges.at(-1)?.ending.turn.model;
  await output.note(
    dim(`model: ${asked}${reported ? `; the last answer came from ${reported}` : ""}`),
  );
}

function isNamed(tool: Tool, word: string): boolean {
  const names = [String(tool.id), tool.name, tool.display_name ?? ""];
  return names.some((name) => name !== "" && name.toLowerCase() === word.toLowerCase());
}

function toolId(tools: readonly Tool[], word: string): number {
  const found = tools.filter((tool) => isNamed(tool, word));
  if (found.length === 1) return found[0]!.id;
  throw new CliError("not-found", `${found.length === 0 ? "no" : "more than one"} tool ${word}`, {
    hints: ["/tools lists them"],
  });
}

async function showTools({ output, settings }: Talk, tools: readonly Tool[]): Promise<void> {
  const { allowedToolIds, forcedToolId } = settings;
  for (const tool of tools) {
    const isAllowed = allowedToolIds?.includes(tool.id) ?? true;
    const forced = tool.id === forcedToolId ? "forced. " : "";
    const name = tool.display_name || tool.name;
    await output.line(
      ...entry(isAllowed, tool.id, name, forced + (tool.description ?? ""), output.columns()),
    );
  }
}

/** `/tools`: lists the tools, allows some, all or none, or forces one. */
export async function chooseTools(talk: Talk, work: Work, argument: string): Promise<void> {
  const { settings } = talk;
  const [first = "", ...rest] = argument.split(/[\s,]+/).filter(Boolean);
  if (first === "all") {
    delete settings.allowedToolIds;
    delete settings.forcedToolId;
  } else if (first === "none") {
    settings.allowedToolIds = [];
    delete settings.forcedToolId;
  }
  const tools = await listTools(work.client);
  if (first === "force") settings.forcedToolId = toolId(tools, rest.join(" "));
  else if (!["", "all", "none"].includes(first)) {
    settings.allowedToolIds = [first, ...rest].map((word) => toolId(tools, word));
  }
  await showTools(talk, tools);
}

/** `/file`: lists the files for the next question, adds one, or clears them. */
export async function attachFile(talk: Talk, work: Work, argument: string): Promise<void> {
  const { output, context } = talk;
  if (argument === "clear") talk.files = [];
  else if (argument !== "") {
    const files = checkFiles(context.cwd, [typedPath(talk, argument)], "/file");
    const { now, elapsed, sleep } = context;
    const upload = {
      context: { now, elapsed, sleep, signal: work.signal },
      client: work.client,
      output,
    };
    talk.files = [...talk.files, ...(await describeFiles(upload, files, []))];
  }
  if (talk.files.length === 0) await output.note(dim("no file is attached to the next question"));
  else {
    const names = talk.files.map(({ name, id }) => neutraliseLine(name ?? id));
    await output.note(dim(`attached to the next question: ${names.join(", ")}`));
  }
}
