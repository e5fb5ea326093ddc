import { spawn } from "node:child_process";
import { platform as systemPlatform } from "node:os";
import type { Environment } from "../../../config/find/folders.ts";

/** How the machine opens links and takes texts into its clipboard. Tests give their own. */
export interface Platform {
  name: NodeJS.Platform;
  env: Environment;
  /** Runs a program without a shell, `input` on its stdin. False when it cannot be started or fails. */
  run(program: string, args: readonly string[], input?: string): Promise<boolean>;
}

const longestWaitMs = 5000;

/** Programs of the user's PATH, started from the root of the file system: Windows looks in the working folder first. */
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
          ...(input === undefined ? {} : { timeout: longestWaitMs }),
        });
        child.once("error", () => resolve(false));
        if (input === undefined) {
          // An opener may live as long as the browser that it started.
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

/** The address of a link that may be opened: only the web's, in the spelling of the URL standard. */
export function webAddress(link: string): string | undefined {
  if (!URL.canParse(link)) return undefined;
  const url = new URL(link);
  return url.protocol === "http:" || url.protocol === "https:" ? url.href : undefined;
}

/** Opens a web address in the user's browser. False where there is none. */
export async function openAddress(platform: Platform, address: string): Promise<boolean> {
  const opener = openerOf(platform);
  if (!opener) return false;
  const [program, ...args] = opener;
  return await platform.run(program, [...args, address]);
}

function clipboardsOf({ name, env }: Platform): [string, ...string[]][] {
  // Over ssh the clipboard of that machine is nobody's.
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

/** Puts a text into the clipboard of the machine; the program that took it, or undefined. */
export async function copyText(platform: Platform, text: string): Promise<string | undefined> {
  for (const [program, ...args] of clipboardsOf(platform)) {
    if (await platform.run(program, args, text)) return program;
  }
  return undefined;
}

// xterm takes 100,000 bytes of such a sequence; others less.
const longestClipboard = 74_000;

/** The sequence that asks the terminal itself to take a text (OSC 52), or undefined where it is too long. */
export function clipboardSequence(text: string): string | undefined {
  const bytes = Buffer.from(text);
  if (bytes.length > longestClipboard) return undefined;
  return `\u001b]52;c;${bytes.toString("base64")}\u0007`;
}
