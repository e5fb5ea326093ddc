import type { ChatOptions } from "./chat-options.ts";
import type { Selection } from "../../../output/chat/renderer.ts";
import type { GlobalFlags } from "../../../config/global-flags.ts";
import { CliError } from "../../../errors.ts";

function usage(message: string, hint: string): CliError {
  return new CliError("usage", message, { hints: [hint] });
}

/** Whether a flag says so: a variable or a configured default yields where it has no effect. */
export function isGiven(options: GlobalFlags, name: string): boolean {
  return options.flagSources?.[name] === "flag";
}

/** What `--fields` and `--jq` make of the one object of an answer; undefined for neither. */
export function selectionOf(options: GlobalFlags): Selection | undefined {
  const { fields, jq } = options;
  const selection = {
    ...(isGiven(options, "fields") ? { fields } : {}),
    ...(isGiven(options, "jq") ? { jq } : {}),
  };
  return Object.keys(selection).length > 0 ? selection : undefined;
}

/** Refuses what the format of an answer leaves without effect. Throws CliError `usage`. */
export function checkFormatFlags(options: GlobalFlags, format: string): void {
  const output = isGiven(options, "output") ? options.output : undefined;
  const picks = ["fields", "jq"].find((name) => isGiven(options, name));
  if (picks !== undefined && output !== undefined && output !== "json") {
    throw usage(
      `--${picks} and --output ${output} exclude each other`,
      `--${picks} works on the one object of --output json`,
    );
  }
  if (format === "text") return;
  const { show } = options as ChatOptions;
  const textOnly = ["live", "render", "show", "sources"].find(
    // Nothing is shown beside json anyway.
    (name) => isGiven(options, name) && !(name === "show" && show === "none"),
  );
  if (textOnly !== undefined) {
    const flag = textOnly === "sources" ? "no-sources" : textOnly;
    throw usage(`--${flag} counts only for text, not for ${format}`, "leave one of them out");
  }
}

/** Refuses flags that a session in the payload would leave without effect. Throws CliError `usage`. */
export function checkPayloadSession(options: ChatOptions): void {
  const flag = (["agent", "project", "session", "continue"] as const).find(
    (name) => options[name] !== undefined && isGiven(options, name),
  );
  if (flag === undefined) return;
  throw usage(
    `--payload names a session, which leaves --${flag} without effect`,
    `leave out --${flag}, or chat_session_id in the payload`,
  );
}

/** Refuses `--live` where a setting or the payload asks for no stream. Throws CliError `usage`. */
export function checkLive(options: ChatOptions, whole: boolean): void {
  if (!whole || !isGiven(options, "live")) return;
  throw usage(
    "--live has no effect: the answer is asked for in one piece",
    "leave it out, or ask for a stream (chat.stream, or `stream` in the payload)",
  );
}
