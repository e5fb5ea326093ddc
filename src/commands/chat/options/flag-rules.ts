import type { ChatOptions } from "./chat-options.ts";
import type { Selection } from "../../../output/chat/renderer.ts";
import type { GlobalFlags } from "../../../config/global-flags.ts";
import { CliError } from "../../../errors.ts";

function usage(message: string, hint: string): CliError {
  return new CliError("usage", message, { hints: [hint] });
}

/** Whether the value is from a flag. A configured default, or the variable of a global flag, without effect is ignored. */
export function isGiven(options: GlobalFlags, name: string): boolean {
  return options.flagSources?.[name] === "flag";
}

/** The selection of `--fields` and `--jq` on the answer's one object; undefined without both. */
export function selectionOf(options: GlobalFlags): Selection | undefined {
  const { fields, jq } = options;
  const selection = {
    ...(isGiven(options, "fields") ? { fields } : {}),
    ...(isGiven(options, "jq") ? { jq } : {}),
  };
  return Object.keys(selection).length > 0 ? selection : undefined;
}

/** Refuses flags that have no effect in the answer's format. Throws CliError `usage`. */
export function checkFormatFlags(options: GlobalFlags, format: string): void {
  const output = isGiven(options, "output") ? options.output : undefined;
  const selector = ["fields", "jq"].find((name) => isGiven(options, name));
  if (selector !== undefined && output !== undefined && output !== "json") {
    throw usage(
      `--${selector} and --output ${output} exclude each other`,
      `--${selector} works on the one object of --output json`,
    );
  }
  if (format === "text") return;
  const { show } = options as ChatOptions;
  const textOnly = ["live", "render", "show", "sources"].find(
    // Machine formats show nothing on stderr anyway.
    (name) => isGiven(options, name) && !(name === "show" && show === "none"),
  );
  if (textOnly !== undefined) {
    const flag = textOnly === "sources" ? "no-sources" : textOnly;
    throw usage(`--${flag} applies only to text, not to ${format}`, "leave one of them out");
  }
}

/** Refuses flags that have no effect because the payload names a session. Throws CliError `usage`. */
export function checkPayloadSession(options: ChatOptions): void {
  const flag = (["agent", "project", "session", "continue"] as const).find(
    (name) => options[name] !== undefined && isGiven(options, name),
  );
  if (flag === undefined) return;
  throw usage(
    `--payload names a session, so --${flag} has no effect`,
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
