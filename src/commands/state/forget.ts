import { relative, resolve, sep } from "node:path";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { countOf } from "../../output/terminal/progress.ts";
import {
  countForgotten,
  forget,
  type Forgotten,
  type ForgetRequest,
} from "../../sync/state/forget.ts";
import { openOutput } from "../connect.ts";
import { createPrompt, confirmChange } from "../prompt.ts";
import { findState, guardWriting, openExisting, type StateFlags } from "./place.ts";

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
  const output = openOutput(context, options);
  checkOptions(names, options);
  const place = await findState(context, options, output);
  const state = await openExisting(context, place, output);
  try {
    const request: ForgetRequest = {
      names: names.map((name) => spellingsOf(name, context.cwd, place.root)),
      onlyFailed: options.failed === true,
      ccPairId: options.ccPairId,
    };
    const found = countForgotten(state.database, request);
    if (found.unknown.length > 0) {
      const unknown = found.unknown.map((index) => names[index]).join(", ");
      throw new CliError("not-found", `no record matches ${unknown}; nothing was forgotten`, {
        hints: ["see `knowctl state list`"],
      });
    }
    const { ccPairId } = options;
    if (options.all && found.documents + found.failures === 0) {
      const where = ccPairId === undefined ? "" : ` for pair ${ccPairId}`;
      await output.note(`nothing is recorded${where}`);
      return;
    }
    const what = textOf(found) + (ccPairId === undefined ? "" : ` of pair ${ccPairId}`);
    const prompt = createPrompt(context, options, output);
    const question = (): string => `Forget ${what}? They will be sent again.`;
    const isForgotten =
      !options.all || (await confirmChange(prompt, options.yes, question, `forget ${what}`));
    if (!isForgotten) {
      await output.note("nothing was forgotten");
      return;
    }
    const deleted = guardWriting(place, () => forget(state.database, request));
    await output.note(`forgot ${textOf(deleted)}`);
  } finally {
    state.close();
  }
}
