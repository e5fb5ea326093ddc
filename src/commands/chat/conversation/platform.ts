import { spawn } from "node:child_process";
import { platform as systemPlatform } from "node:os";
import type { Environment } from "../../../config/find/folders.ts";

/** How the machine opens links and fills its clipboard. Tests pass their own. */
export interface Platform {
  name: NodeJS.Platform;
  env: Environment;
  /** Runs a program without a shell, with `input` on stdin. False if it cannot start or fails. */
  run(program: string, args: readonly string[], input?: string): Promise<boolean>;
}

const programTimeoutMs = 5000;

/** Runs programs of the user's PATH from the root folder: Windows searches the working folder first. */
export function createPlatform(env: Environment): Platform {
  return {
    name: systemPlatform(),
    env,
    run: (program, args, input) =>
      new Promise((resolve) => {
        const child = spawn(program, args, {
          cwd: systemPlatform() === "win32" ? (env["SystemRoot"] ?? "C:\\") : "/",
          env: { ...env } as NodeJS.ProcessEnv,
          shell: false,
          stdio: [input === undefined ? "ignore" : "pipe", "ignore", "ignore"],
          detached: input === undefined,
          windowsHide: true,
          ...(input === undefined ? {} : { timeout: programTimeoutMs }),
        });
        child.once("error", () => resolve(false));
        if (input === undefined) {
          // An opener may run as long as the browser that it started.
          child.once("spawn", () => resolve(true)).unref();
          return;
        }
        child.once("close", (code) => resolve(code === 0));
        child.stdin?.on("error", () => {}).end(input);
      }),
  };
}

function openerOf({ name, env }: Platform): [string, ...string[]] | undefined {
  if (name === "darwin") return ["open"];
  if (name === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return env["DISPLAY"] || env["WAYLAND_DISPLAY"] ? ["xdg-open"] : undefined;
}

/** The normalised URL of a link that may be opened: only http and https. */
export function webAddress(link: string): string | undefined {
  if (!URL.canParse(link)) return undefined;
  const url = new URL(link);
  return url.protocol === "http:" || url.protocol === "https:" ? url.href : undefined;
}

/**
 * Commands of $BROWSER in order: words without quotes, in which `%s` stands for the address.
 * `:` separates commands, except on Windows, where it is part of paths.
 */
function browsersOf({ name, env }: Platform): string[][] {
  const commands = name === "win32" ? [env["BROWSER"] ?? ""] : (env["BROWSER"] ?? "").split(":");
  return commands
    .map((each) => each.split(/\s+/).filter(Boolean))
    .filter(({ length }) => length > 0);
}

/** Opens a web address with $BROWSER, else in the browser of the system. False without a browser. */
export async function openAddress(platform: Platform, address: string): Promise<boolean> {
  const opener = openerOf(platform);
  for (const command of [...browsersOf(platform), ...(opener ? [opener] : [])]) {
    const words = command.map((word) => word.replaceAll("%s", () => address));
    const [program = "", ...args] = command.some((word) => word.includes("%s"))
      ? words
      : [...words, address];
    if (await platform.run(program, args)) return true;
  }
  return false;
}

function clipboardsOf({ name, env }: Platform): [string, ...string[]][] {
  // Over ssh, the user is not at this machine, so its clipboard is useless.
  if (env["SSH_CONNECTION"] || env["SSH_TTY"]) return [];
  if (name === "darwin") return [["pbcopy"]];
  if (name === "win32") return [["clip"]];
  if (env["WAYLAND_DISPLAY"]) return [["wl-copy"]];
  return env["DISPLAY"]
    ? [
        ["xclip", "-selection", "clipboard"],
        ["xsel", "--clipboard", "--input"],
      ]
    : [];
}

/** Copies a text to the machine's clipboard. Returns the program that did it, or undefined. */
export async function copyText(platform: Platform, text: string): Promise<string | undefined> {
  for (const [program, ...args] of clipboardsOf(platform)) {
    if (await platform.run(program, args, text)) return program;
  }
  return undefined;
}

// xterm accepts 100,000 bytes of such a sequence; other terminals accept less.
const maxClipboardBytes = 74_000;

/** The sequence that copies a text to the terminal's clipboard (OSC 52); undefined if it is too long. */
export function clipboardSequence(text: string): string | undefined {
  const bytes = Buffer.from(text);
  if (bytes.length > maxClipboardBytes) return undefined;
  return `\u001b]52;c;${bytes.toString("base64")}\u0007`;
}
