import type { Found } from "../../documents/find/source-file.ts";
import { stateFolder } from "./session-setup.ts";
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { ownerRules } from "../../config/values/given.ts";
import type { Context } from "../../context.ts";
import { explainDocument, type Explanation } from "../../documents/map/explain.ts";
import { findFiles } from "../../documents/find/find.ts";
import { createSecretCheck, shortestKey } from "../../documents/payload/secrets.ts";
import { CliError } from "../../errors.ts";
import { checkFormat, writeRecord } from "../../output/formats/formats.ts";
import { writeExplanation } from "../../output/explanation.ts";
import { seenText } from "../../sync/state/records.ts";
import { hasState, openState } from "../../sync/state/state-file.ts";
import { openOutput } from "../connect.ts";
import { ownKeys } from "./own-keys.ts";
import { isTargetOpen, recordedPairs } from "./target/recorded-target.ts";
import { plannedBaseUrl } from "./session.ts";
import { openSource, type DocumentSource, type MappingFlags } from "./options/settings.ts";
import { refuseAmbiguous } from "./subcommand.ts";
import { chosenPair } from "./target/target.ts";

export interface ExplainFlags extends MappingFlags {
  /** Which row of a file of rows; the first where none is given. */
  row?: number;
}

function findOne({ cwd, find }: DocumentSource, path: string): Found {
  if (statSync(resolve(cwd, path), { throwIfNoEntry: false })?.isDirectory()) {
    throw new CliError("usage", `${path} is a folder`, { hints: ["name one file in it"] });
  }
  // That a pattern leaves it out is to be explained as well.
  const settings = { ...find.settings, exclude: undefined, only: undefined };
  for (const found of findFiles([path], { ...find, settings })) return found;
  throw new CliError("usage", `no such file: ${path}`);
}

/** What the state knows of a file, in words, and the only pair that is recorded, which an upload takes. */
interface Recorded {
  text: string;
  onlyPair: number | undefined;
}

/** What the state knows of the file: targets that accepted it, and whether it would be read. */
async function stateOf(
  context: Context,
  source: DocumentSource,
  flags: MappingFlags,
  explanation: Explanation,
  stamp: string,
): Promise<Recorded> {
  const folder = stateFolder(source, flags);
  const rules = ownerRules(context);
  if (folder === undefined || !hasState(folder, rules)) {
    return { text: "not recorded: there is no state yet", onlyPair: undefined };
  }
  const { state } = await openState(folder, context.now, rules);
  try {
    const record = state.file(explanation.path, explanation.row);
    const seen =
      record?.seen === seenText(stamp, source.mappingKey(explanation.path))
        ? "unchanged since it was last read"
        : "would be read again";
    const id = explanation.document?.id ?? "";
    const targets = state.targetsOf(id);
    const sent = targets.length === 0 ? "not sent yet" : `accepted by ${targets.join(", ")}`;
    const pairs = recordedPairs(state, plannedBaseUrl(source.config));
    return { text: `${seen}; ${sent}`, onlyPair: pairs.length === 1 ? pairs[0] : undefined };
  } finally {
    state.close();
  }
}

/** `ingest explain FILE`: why it is in or out, where each field comes from, and the exact payload. */
export async function explainFile(
  context: Context,
  args: string[],
  flags: ExplainFlags,
): Promise<void> {
  const [path = ""] = args;
  refuseAmbiguous(context, "explain");
  checkFormat(flags);
  const output = openOutput(context, flags);
  const source = await openSource(context, [path], flags, output, false);
  const found = findOne(source, path);
  if (found.kind !== "file") {
    throw new CliError("usage", `${source.shown(found.path)} is left out: ${found.reason}`);
  }
  const keys = await ownKeys(output, source, undefined);
  // One that may be sent is not shown all the same.
  for (const key of keys) if (key.length >= shortestKey) output.secrets.add(key);
  const explanation = await explainDocument(
    { ...found.file, facts: source.factsOf?.(found.file.path) },
    source.settings,
    createSecretCheck(keys, source.settings),
    flags.row,
  );
  const recorded = await stateOf(context, source, flags, explanation, found.file.stamp);
  const pair = chosenPair(flags, source.config);
  const configured = pair.connector ?? pair.ccPairId;
  // As in an upload: a flag wins over a rule, a rule over the configured pair.
  const named = pair.fromFlag ? configured : (explanation.ccPairId ?? configured);
  const target = named ?? (isTargetOpen(pair, source.config) ? recorded.onlyPair : undefined);
  const state = recorded.text;
  if (output.isTerminal && flags.output === undefined && !flags.json) {
    const { shown } = source;
    await writeExplanation(output, explanation, { state, target, shown });
  } else {
    await writeRecord(output, flags, { version: 1, ...explanation, target, state });
  }
}
