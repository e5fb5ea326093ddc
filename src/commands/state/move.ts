import { parseBaseUrl } from "../../config/values/url.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { moveService, planMove } from "../../sync/transfer/move.ts";
import { recordedServices } from "../../sync/state/target.ts";
import { openOutput } from "../connect.ts";
import { createPrompt, confirmChange } from "../prompt.ts";
import { findState, guardWriting, openExisting, type StateFlags } from "./place.ts";

export interface StateMoveOptions extends StateFlags {
  yes?: boolean;
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
  const [from, to] = [parseBaseUrl(oldName).baseUrl, parseBaseUrl(newName).baseUrl];
  if (from === to) throw new CliError("usage", `${oldName} and ${newName} are one address`);
  const output = openOutput(context, options);
  const place = await findState(context, options, output);
  const state = await openExisting(context, place, output);
  try {
    const { documents, failures, conflicts } = planMove(state.database, from, to);
    if (documents + failures === 0) {
      throw new CliError("not-found", `nothing is recorded for ${from}`, {
        hints: recordedServices(state.database).map((each) => `there are records for ${each}`),
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
    guardWriting(place, () => moveService(state.database, from, to));
    await output.note(`moved the records of ${what}`);
  } finally {
    state.close();
  }
}
