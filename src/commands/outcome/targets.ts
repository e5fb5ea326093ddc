import type { Notification } from "../../config/load.ts";
import { isLoopback } from "../../config/values/url.ts";
import { CliError, type ExitName } from "../../errors.ts";
import type { Secrets } from "../../output/terminal/redact.ts";

/** Where a notification goes. A command of the flag runs in a shell, as it was typed into one. */
export type NotifyTarget =
  | { kind: "url"; url: URL }
  | { kind: "command"; command: readonly string[]; isShell: boolean };

/** A target, and the ends of a run that it is notified of. */
export interface Recipient {
  target: NotifyTarget;
  on: Notification["on"];
}

/** A shorter part of an address is a word, not a token. */
const shortestToken = 12;

/** Registers what in an address may be a token: it must not be shown, whoever repeats it. */
function hideTokens({ href, pathname, search, searchParams }: URL, secrets: Secrets): void {
  const parts = [...pathname.split("/"), ...searchParams.values()];
  const texts = [href, pathname + search, ...parts, ...parts.map(decodePart)];
  for (const text of texts) if (text.length >= shortestToken) secrets.add(text);
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Why an address cannot be notified; undefined if it can. Does not repeat the address. */
function obstacle(address: string): string | undefined {
  if (!URL.canParse(address)) return "not a valid address";
  const { protocol, username, password, hostname } = new URL(address);
  if (protocol !== "https:" && protocol !== "http:") return "only http and https addresses";
  if (username !== "" || password !== "") return "an address with a user name or password";
  if (protocol === "http:" && !isLoopback(hostname)) {
    return `plain http to ${hostname}: others could read what the address holds; use https`;
  }
  return undefined;
}

/** The target of an address. Throws CliError `exit` that names `where`, never the address. */
function urlTarget(address: string, where: string, exit: ExitName, secrets: Secrets): NotifyTarget {
  if (URL.canParse(address)) hideTokens(new URL(address), secrets);
  const problem = obstacle(address);
  if (problem === undefined) return { kind: "url", url: new URL(address) };
  const hints = ["name an https address, or a command that reads the message from stdin"];
  throw new CliError(exit, `${where}: ${problem}`, { hints });
}

/** The recipients of `--notify`, which are notified of every end. Throws CliError `usage`. */
export function flagRecipients(values: readonly string[], secrets: Secrets): Recipient[] {
  return values.map((value) => {
    const isUrl = /^[a-z][a-z\d+.-]*:\/\//i.test(value);
    const target: NotifyTarget = isUrl
      ? urlTarget(value, "--notify", "usage", secrets)
      : { kind: "command", command: [value], isShell: true };
    return { target, on: "always" };
  });
}

/** The recipients of the configuration. Throws CliError `not-configured`. */
export function configRecipients(all: readonly Notification[], secrets: Secrets): Recipient[] {
  return all.map(({ target, on, where }) => ({
    on,
    target:
      "url" in target
        ? urlTarget(target.url, where, "not-configured", secrets)
        : { kind: "command", command: target.command, isShell: false },
  }));
}
