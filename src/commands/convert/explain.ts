import type { Found } from "../../documents/files/source-file.ts";
import { statsOf } from "../stats-of.ts";
import { stateFolder, openSource, type DocumentSource } from "../ingest/options/settings.ts";
import { resolve } from "node:path";
import { loadExamine } from "../../checks/lint/load-examine.ts";
import { stateRules } from "../files-in-state.ts";
import type { Context } from "../../context.ts";
import { runAlone } from "../../documents/inspect/pool.ts";
import { formatOf } from "../../documents/formats/formats.ts";
import { explainDocument, type Explanation } from "../../documents/inspect/explain.ts";
import { findFiles } from "../../documents/find/find.ts";
import { shortestKey } from "../../checks/lint/secrets/find-secrets.ts";
import { CliError } from "../../errors.ts";
import { checkFormat, writeRecord } from "../../output/formats/formats.ts";
import { writeExplanation } from "../../output/explanation.ts";
import { seenText } from "../../sync/state/records.ts";
import { openStateForReading } from "../../sync/state/file/read-only-state.ts";
import { hasState } from "../../sync/state/file/state-file.ts";
import { ownKeys } from "../ingest/own-keys.ts";
import { isTargetOpen, recordedPairs, chosenPair } from "../ingest/target/pair.ts";
import { plannedBaseUrl } from "../ingest/session.ts";
import type { MappingFlags } from "../ingest/options/mapping-flags.ts";
import { createOutput } from "../../output/terminal/output.ts";

export interface ExplainFlags extends MappingFlags {
  /** Row of a file of rows; default: the first. */
  row?: number;
}

function findFile({ cwd, find }: DocumentSource, path: string): Found {
  if (statsOf(resolve(cwd, path))?.isDirectory()) {
    throw new CliError("usage", `${path} is a folder`, { hints: ["name one file in it"] });
  }
  // Ignore exclude patterns, so that an excluded file is explained too.
  const settings = { ...find.settings, exclude: undefined, only: undefined };
  for (const found of findFiles([path], { ...find, settings })) return found;
  throw new CliError("usage", `no such file: ${path}`);
}

/** Record of a file as text, and the only recorded pair, which an upload would use. */
interface Recorded {
  text: string;
  onlyPair: number | undefined;
}

/** Reads from the state which targets accepted the file and whether it would be read again. */
async function readRecord(
  context: Context,
  source: DocumentSource,
  flags: MappingFlags,
  explanation: Explanation,
  stamp: string,
): Promise<Recorded> {
  const folder = stateFolder(source, flags);
  const rules = stateRules(context);
  if (folder === undefined || !hasState(folder, rules)) {
    return { text: "not recorded: there is no state yet", onlyPair: undefined };
  }
  const { state } = await openStateForReading(folder, context.now, rules);
  try {
    const record = state.file(explanation.path, explanation.row);
    const seen =
      record?.seen === seenText(stamp, source.mappingKey(explanation.path))
        ? "unchanged since it was last read"
        : "would be read again";
    const id = explanation.document?.id ?? "";
    const ids = [id, record?.document?.id ?? id];
    const [now, before] = ids.map((each) => state.targetsOf(each).join(", "));
    const asRecorded = before ? `; recorded as "${ids[1]}", accepted by ${before}` : "";
    const sent = now
      ? `accepted by ${now}`
      : `not sent ${asRecorded ? "under this id" : "yet"}${asRecorded}`;
    const pairs = recordedPairs(state, plannedBaseUrl(source.config));
    return { text: `${seen}; ${sent}`, onlyPair: pairs.length === 1 ? pairs[0] : undefined };
  } finally {
    state.close();
  }
}

/** `explain FILE`: shows why a file is in or out, the origin of each field, and the payload. */
export async function explain(
  context: Context,
  args: string[],
  flags: ExplainFlags,
): Promise<void> {
  const [path = ""] = args;
  checkFormat(flags);
  const output = createOutput(context, flags);
  const source = await openSource(context, [path], flags, output, false);
  const found = findFile(source, path);
  if (found.kind !== "file") {
    throw new CliError("usage", `${source.shown(found.path)} is left out: ${found.reason}`);
  }
  const keys = await ownKeys(output, source, undefined);
  const { checks } = source;
  // Redact keys even in documents that may be sent with them.
  for (const key of keys) if (key.length >= shortestKey) output.secrets.add(key);
  const file = { ...found.file, facts: source.factsOf?.(found.file.path) };
  const { workerScript } = context;
  const isConverted = formatOf(file.path, source.settings.format)?.isConverted === true;
  const setup = checks && { ...checks, keys };
  const explanation =
    isConverted && workerScript !== undefined
      ? await runAlone<Explanation>(
          workerScript,
          {
            alone: { kind: "explain", file, row: flags.row },
            settings: source.raw,
            checks: setup,
          },
          file.path,
        )
      : await explainDocument(
          file,
          source.settings,
          await loadExamine(setup, source.settings),
          flags.row,
        );
  const recorded = await readRecord(context, source, flags, explanation, found.file.stamp);
  const pair = chosenPair(flags, source.config);
  const configured = pair.connector ?? pair.ccPairId;
  // As in an upload: a flag overrides a rule, and a rule overrides the configured pair.
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
