import { isLikelyPassword } from "./named-passwords.ts";
import type { Secret } from "../secret.ts";
import { isRemote } from "./url-passwords.ts";

/** A text without it has no such command. */
export const curlMark = "curl";

// https://curl.se/docs/manpage.html#-u
const option =
  /\s(?:-[uU] ?|--(?:proxy-)?user[ =])\\?["']?[^\s:"'`]{0,60}:([^\s"'`\\]{10,64})(?![^\s"'`\\])/g;
/** Longest part of a command before or after the option, in characters. */
const reach = 500;
const continuation = /\\\r?\n/g;
const address = /(?:^|[\s"'])(?:https?:\/\/|(?=localhost\b|127\.))([\w.-]+)/i;

/** The command around an offset, its continued lines as one. */
function commandAround(text: string, at: number): string {
  const before = text.slice(Math.max(0, at - reach), at + 1).replace(continuation, " ");
  const after = text.slice(at + 1, at + reach).replace(continuation, " ");
  return before.slice(before.lastIndexOf("\n") + 1) + (/^[^\n]*/.exec(after)?.[0] ?? "");
}

/** Passwords that `curl --user name:password` sends to another machine. */
export function* curlPasswords(text: string): Generator<Secret> {
  if (!text.includes(curlMark)) return;
  for (const { 0: whole, 1: password = "", index } of text.matchAll(option)) {
    if (!isLikelyPassword(password)) continue;
    const command = commandAround(text, index);
    const [, host] = address.exec(command) ?? [];
    if (!/\bcurl\b/.test(command) || (host !== undefined && !isRemote(host))) continue;
    const end = index + whole.length;
    yield { rule: "secret-assigned", kind: "password", start: end - password.length, end };
  }
}
