import { resolve } from "node:path";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import type { Output } from "../../output/terminal/output.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { checkOutputPath, writeFilePieces } from "../../output/report/file.ts";
import { exportLines } from "../../sync/transfer/export.ts";
import { createIncoming, type Incoming } from "../../sync/transfer/import.ts";
import { openScratchState } from "../../sync/state/file/state-file.ts";
import type { State } from "../../sync/state/state.ts";
import { openOutput } from "../connect.ts";
import { refuseRepeatedFile } from "../repeated-file.ts";
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
  replace?: boolean;
}

export interface StateMergeOptions extends StateFlags {
  /** File to write instead of the local state. */
  out?: string;
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

/** `state export`: writes the whole state as NDJSON, for another machine or for `state merge`. */
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

async function readAll(
  context: Context,
  names: readonly string[],
  incoming: Incoming,
): Promise<void> {
  for (const name of names) await readExport(context, name, incoming);
}

async function apply(
  context: Context,
  place: Pick<StatePlace, "folder">,
  incoming: Incoming,
  replace: boolean,
): Promise<void> {
  const steps = incoming.apply(replace);
  while (!guardWriting(place, () => steps.next()).done) {
    // Yield between transactions, so that other runs and Ctrl-C are not blocked.
    await new Promise((next) => setImmediate(next));
    context.signal.throwIfAborted();
  }
}

async function importInto(
  context: Context,
  names: readonly string[],
  options: StateImportOptions,
): Promise<void> {
  const output = openOutput(context, options);
  const place = await findState(context, options, output);
  const state = await openOrCreate(context, place, output);
  try {
    const incoming = createIncoming(state.database);
    await readAll(context, names, incoming);
    state.markRoot();
    await apply(context, place, incoming, options.replace === true);
    const files = names.length === 1 ? "" : ` from ${countOf(names.length, "file")}`;
    const count = countOf(incoming.documents(), "record");
    await output.note(`imported ${count} of sent documents${files} into ${place.folder}`);
  } finally {
    state.close();
  }
}

/**
 * `state import`: merges an exported state into the local state. Of two records of one
 * document, the one sent last is kept. Throws CliError `usage`, without importing anything,
 * when the file is invalid or incomplete.
 */
export async function stateImport(
  context: Context,
  [name = "-"]: string[],
  options: StateImportOptions,
): Promise<void> {
  await importInto(context, [name], options);
}

/** `state merge`: merges the exported states of all shards, into the local state or a file. */
export async function stateMerge(
  context: Context,
  names: string[],
  options: StateMergeOptions,
): Promise<void> {
  if (names.filter((name) => name === "-").length > 1) {
    throw new CliError("usage", "stdin can be read only once");
  }
  refuseRepeatedFile(context.cwd, names, "pass each exported state once");
  if (options.out === undefined) return await importInto(context, names, options);
  if (options.out !== "-") checkOutputPath("--out", options.out, context.cwd);
  const output = openOutput(context, options);
  const state = await openScratchState();
  try {
    const incoming = createIncoming(state.database);
    await readAll(context, names, incoming);
    await apply(context, { folder: "" }, incoming, false);
    await writeExport(context, output, state, options.out);
    await output.note(`${countOf(names.length, "file")} merged`);
  } finally {
    state.close();
  }
}
