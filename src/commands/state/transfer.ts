import { resolve } from "node:path";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import type { Output } from "../../output/terminal/output.ts";
import { countOf, formatCount } from "../../output/terminal/progress.ts";
import { checkOutputPath, writeFilePieces } from "../../output/report/file.ts";
import { exportLines } from "../../sync/transfer/export.ts";
import type { TargetChanges } from "../../sync/transfer/changes.ts";
import { createIncoming, type Incoming } from "../../sync/transfer/import.ts";
import { pairInKey, serviceInKey } from "../../sync/state/target.ts";
import type { State } from "../../sync/state/state.ts";
import { openOutput } from "../connect.ts";
import { pairText } from "../ingest/target/pair.ts";
import { createPrompt } from "../prompt.ts";
import { refuseRepeatedFile } from "../stats-of.ts";
import {
  findState,
  guardWriting,
  openToRead,
  openOrCreate,
  type StateFlags,
  type StatePlace,
} from "./place.ts";
import { readExport } from "./read-export.ts";

export interface StateImportOptions extends StateFlags {
  yes?: boolean;
}

const pieceLength = 64 * 1024;

function* joinLines(lines: Iterable<string>): Generator<string> {
  let piece = "";
  for (const line of lines) {
    piece += line;
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

/** Exports a state to a file, or to stdout for `-`. */
async function writeExport(
  context: Context,
  output: Output,
  state: State,
  name: string,
): Promise<void> {
  const pieces = joinLines(exportLines(state));
  if (name !== "-") {
    return await writeFilePieces(resolve(context.cwd, name), pieces, "the exported state");
  }
  for (const piece of pieces) {
    context.signal.throwIfAborted();
    await output.json(piece);
  }
}

/** `state export`: writes the whole state as NDJSON, for `state import` elsewhere. */
export async function stateExport(
  context: Context,
  [name = "-"]: string[],
  options: StateFlags,
): Promise<void> {
  if (name !== "-") checkOutputPath("cannot write", name, context.cwd);
  const output = openOutput(context, options);
  const place = await findState(context, options, output);
  const state = await openToRead(context, place, output);
  try {
    await writeExport(context, output, state, name);
  } finally {
    state.close();
  }
}

async function apply(context: Context, place: StatePlace, incoming: Incoming): Promise<void> {
  const steps = incoming.apply();
  while (!guardWriting(place, () => steps.next()).done) {
    // Yield between transactions, so that other runs and Ctrl-C are not blocked.
    await new Promise((next) => setImmediate(next));
    context.signal.throwIfAborted();
  }
}

const mostTargets = 20;

function lineOf({ target, added, newer, kept, failures }: TargetChanges): string {
  const pair = target === "" ? "pairs by rule" : pairText(pairInKey(target), undefined);
  const place = target === "" ? "" : ` at ${serviceInKey(target)}`;
  const parts = [
    `${formatCount(added)} new here`,
    ...(newer > 0 ? [`${formatCount(newer)} newer than here`] : []),
    ...(kept > 0 ? [`${formatCount(kept)} kept as they are here`] : []),
    ...(failures > 0 ? [countOf(failures, "failure")] : []),
  ];
  return `${pair}${place}: records of documents: ${parts.join(", ")}`;
}

/** Shows what an import adds per target, and asks. Returns false for no. */
async function confirmImport(
  context: Context,
  output: Output,
  changes: readonly TargetChanges[],
  options: StateImportOptions & { readsStdin: boolean },
): Promise<boolean> {
  for (const each of changes.slice(0, mostTargets)) await output.problem(lineOf(each));
  if (changes.length > mostTargets) {
    await output.problem(`and ${countOf(changes.length - mostTargets, "more target")}`);
  }
  if (options.yes) return true;
  const prompt = createPrompt(context, options, output);
  if (prompt.canAsk && !options.readsStdin) {
    return await prompt.confirm("Import these records? They decide what counts as sent.");
  }
  const why = options.readsStdin ? "stdin holds the records" : "there is no terminal to ask on";
  throw new CliError("usage", `nothing was imported: ${why}`, {
    hints: ["check the targets and numbers above, then confirm with --yes"],
  });
}

/**
 * `state import`: merges exported states into the local state. Of two records of one document, the
 * one sent last is kept. Throws CliError `usage`, without importing anything, when a file is invalid
 * or incomplete, and where nobody answers the question.
 */
export async function stateImport(
  context: Context,
  names: string[],
  options: StateImportOptions,
): Promise<void> {
  const readsStdin = names.includes("-");
  if (names.filter((name) => name === "-").length > 1) {
    throw new CliError("usage", "stdin can be read only once");
  }
  refuseRepeatedFile(context.cwd, names, "pass each exported state once");
  const output = openOutput(context, options);
  const place = await findState(context, options, output);
  const state = await openOrCreate(context, place, output);
  try {
    const incoming = createIncoming(state.database);
    for (const name of names) await readExport(context, name, incoming);
    const changes = incoming.changes();
    if (!(await confirmImport(context, output, changes, { ...options, readsStdin }))) {
      return await output.note("nothing was imported");
    }
    state.markRoot();
    await apply(context, place, incoming);
    const files = names.length === 1 ? "" : ` from ${countOf(names.length, "file")}`;
    const total = changes.reduce((sum, { added, newer, kept }) => sum + added + newer + kept, 0);
    const count = countOf(total, "record");
    await output.note(`imported ${count} of sent documents${files} into ${place.folder}`);
  } finally {
    state.close();
  }
}
