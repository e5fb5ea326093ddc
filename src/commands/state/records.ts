import { relative, resolve, sep } from "node:path";
import { AddressProblem, addressHint, parseBaseUrl } from "../../config/values/url.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { checkFormat, writeList, type Column } from "../../output/formats/formats.ts";
import { pathsFrom, withoutPath, type ShownPath } from "../../output/paths.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import { countOf, relativeTime } from "../../output/terminal/progress.ts";
import {
  listRecords,
  type StateEntry,
  countForgotten,
  forget,
  type Forgotten,
  type ForgetRequest,
} from "../../sync/state/entries.ts";
import { recordedServices, serviceInKey, moveService, planMove } from "../../sync/state/target.ts";
import { hostOf } from "../ingest/target/pair.ts";
import { confirmChange, createPrompt } from "../prompt.ts";
import { guardWriting, withState, type StateFlags } from "./place.ts";

export interface StateListOptions extends StateFlags {
  status?: StateEntry["status"];
  ccPairId?: number;
  limit?: number;
}

function createColumns(shown: ShownPath): Column<StateEntry>[] {
  return [
    { name: "status" },
    { name: "cc_pair_id", value: "ccPairId", align: "right" },
    { name: "path", show: (value) => (value ? shown(String(value)) : ""), cut: "start" },
    { name: "id", cut: "start" },
    { name: "time", show: relativeTime },
    {
      name: "reason",
      value: ({ path, reason }) => reason && withoutPath(path ?? "", reason),
    },
    { name: "service", value: (row) => hostOf(serviceInKey(row.target)) },
    { name: "row", align: "right", shown: false },
    { name: "target", shown: false },
    { name: "stored_id", value: "storedId", shown: false },
    { name: "retryable", shown: false },
    { name: "http_status", value: "httpStatus", align: "right", shown: false },
    { name: "updated_at", value: "updatedAt", shown: false },
  ];
}

/** `state list`: lists the sent documents and the failures in the state. */
export async function stateList(
  context: Context,
  _args: string[],
  options: StateListOptions,
): Promise<void> {
  checkFormat(options);
  await withState(context, options, "read", async ({ output, state, folder, root }) => {
    const columns = createColumns(pathsFrom(context.cwd, root));
    const rows = function* (): Generator<StateEntry> {
      for (const entry of listRecords(state.database, options)) {
        context.signal.throwIfAborted();
        yield entry;
      }
    };
    const count = await writeList(output, options, columns, rows());
    if (count > 0) return;
    const isEmpty = listRecords(state.database, {}).next().done === true;
    await output.note(
      isEmpty
        ? `nothing has been uploaded from here yet: the state in ${folder} has no records`
        : "no records match",
    );
  });
}

export interface StateForgetOptions extends StateFlags {
  failed?: boolean;
  all?: boolean;
  yes?: boolean;
  ccPairId?: number;
}

function checkOptions(names: readonly string[], { all, failed }: StateForgetOptions): void {
  if (all && names.length > 0) {
    throw new CliError("usage", "--all and paths or ids exclude each other", {
      hints: ["name the records to forget, or use --all without names"],
    });
  }
  if (names.includes("")) throw new CliError("usage", "a name is empty");
  if (names.length > 0 || all || failed) return;
  throw new CliError("usage", "no record to forget is named", {
    hints: ["name files, folders or ids, or use --failed or --all", "see `knowctl state list`"],
  });
}

/** Spellings of a name: as typed, and as a path relative to the root, like all paths in the state. */
function spellingsOf(name: string, cwd: string, root: string): string[] {
  const fromRoot = relative(root, resolve(cwd, name)).split(sep).join("/").normalize("NFC");
  const isInside = fromRoot !== "" && fromRoot !== ".." && !fromRoot.startsWith("../");
  return [...new Set([name.normalize("NFC"), name, ...(isInside ? [fromRoot] : [])])];
}

function textOf({ documents, failures }: Omit<Forgotten, "unknown">): string {
  const parts = [
    ...(documents > 0 || failures === 0 ? [countOf(documents, "document")] : []),
    ...(failures > 0 ? [countOf(failures, "failure")] : []),
  ];
  return parts.join(" and ");
}

/**
 * `state forget`: deletes records, so that the documents are sent again under the same
 * ids. Throws CliError `not-found` for a name without records.
 */
export async function stateForget(
  context: Context,
  names: string[],
  options: StateForgetOptions,
): Promise<void> {
  checkOptions(names, options);
  const { ccPairId, all, yes } = options;
  await withState(context, options, "change", async (open) => {
    const { output, root } = open;
    const { database } = open.state;
    const request: ForgetRequest = {
      names: names.map((name) => spellingsOf(name, context.cwd, root)),
      onlyFailed: options.failed === true,
      ccPairId,
    };
    const found = countForgotten(database, request);
    if (found.unknown.length > 0) {
      const unknown = found.unknown.map((index) => names[index]).join(", ");
      throw new CliError("not-found", `no record matches ${unknown}; nothing was forgotten`, {
        hints: ["see `knowctl state list`"],
      });
    }
    if (all && found.documents + found.failures === 0) {
      const where = ccPairId === undefined ? "" : ` for pair ${ccPairId}`;
      return await output.note(`nothing is recorded${where}`);
    }
    const what = textOf(found) + (ccPairId === undefined ? "" : ` of pair ${ccPairId}`);
    const prompt = createPrompt(context, options, output);
    const question = (): string => `Forget ${what}? They will be sent again.`;
    if (all && !(await confirmChange(prompt, yes, question, `forget ${what}`))) {
      return await output.note("nothing was forgotten");
    }
    const deleted = guardWriting(open, () => forget(database, request));
    await output.note(`forgot ${textOf(deleted)}`);
  });
}

export interface StateMoveOptions extends StateFlags {
  yes?: boolean;
}

/** The address in an argument of `state move`; throws CliError `usage`. */
function serviceNamed(address: string): string {
  try {
    return parseBaseUrl(address).baseUrl;
  } catch (error) {
    if (!(error instanceof AddressProblem)) throw error;
    throw new CliError("usage", error.message, { hints: [addressHint(address)] });
  }
}

/**
 * `state move`: moves all records of a service to its new address. Throws CliError `not-found` for an
 * address without records, and `usage` where both addresses have a record of one document.
 */
export async function stateMove(
  context: Context,
  [oldName = "", newName = ""]: string[],
  options: StateMoveOptions,
): Promise<void> {
  const [from, to] = [serviceNamed(oldName), serviceNamed(newName)];
  if (from === to) throw new CliError("usage", `${oldName} and ${newName} are one address`);
  await withState(context, options, "change", async (open) => {
    const { output } = open;
    const { database } = open.state;
    const { documents, failures, conflicts } = planMove(database, from, to);
    if (documents + failures === 0) {
      throw new CliError("not-found", `nothing is recorded for ${from}`, {
        hints: recordedServices(database).map((each) => `there are records for ${each}`),
      });
    }
    if (conflicts.length > 0) {
      throw new CliError(
        "usage",
        "both addresses have records of the same documents; nothing was moved",
        {
          details: conflicts.map(neutraliseLine),
          hints: ["forget one of them first: knowctl state forget ID"],
        },
      );
    }
    const what = `${countOf(documents, "document")} and ${countOf(failures, "failure")} from ${from} to ${to}`;
    const prompt = createPrompt(context, options, output);
    const question = (): string => `${what}: is it the same service?`;
    if (!(await confirmChange(prompt, options.yes, question, `move ${what}`))) {
      return await output.note("nothing was moved");
    }
    guardWriting(open, () => moveService(database, from, to));
    await output.note(`moved the records of ${what}`);
  });
}
