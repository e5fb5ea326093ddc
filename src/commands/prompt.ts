import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { GlobalFlags } from "../config/global-flags.ts";
import type { Context } from "../context.ts";
import { CliError, type ExitName } from "../errors.ts";
import type { Output } from "../output/terminal/output.ts";

/** Questions on the terminal. Each names what answers it where there is none. */
export interface Prompt {
  /** Whether questions are possible: a terminal, no `--no-input`, no CI. */
  readonly canAsk: boolean;
  /** A line of text, trimmed; empty takes `preset`. */
  ask(question: string, remedy: Remedy, preset?: string): Promise<string>;
  /** A line that is not shown while it is typed. */
  askHidden(question: string, remedy: Remedy): Promise<string>;
  /** True only for an answer that begins with y. */
  confirm(question: string): Promise<boolean>;
}

/** What to do instead of answering, and how the missing answer ends. */
interface Remedy {
  exit: ExitName;
  /** `--base-url` */
  flag: string;
}

function isCi(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "false"].includes(value.toLowerCase());
}

/** readline draws what is typed on its output: for a secret that is nowhere. */
function nowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

async function readLine(context: Context, isHidden: boolean): Promise<string> {
  const lines = createInterface({
    input: context.stdin.stream,
    // Without `terminal` the terminal itself echoes and edits; with it readline takes the keys raw.
    ...(isHidden ? { output: nowhere(), terminal: true, historySize: 0 } : { terminal: false }),
  });
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once("line", resolve);
      lines.once("close", () =>
        reject(
          new CliError("usage", "the input ended before an answer", {
            hints: ["nothing was changed"],
          }),
        ),
      );
      // In raw mode Ctrl-C is a key and no signal.
      lines.once("SIGINT", () =>
        reject(new CliError("interrupted", "interrupted; nothing was changed")),
      );
      context.signal.addEventListener("abort", () => reject(context.signal.reason as Error), {
        once: true,
      });
    });
  } finally {
    lines.close();
    context.stdin.stream.pause();
  }
}

export function createPrompt(context: Context, flags: GlobalFlags, output: Output): Prompt {
  const canAsk =
    flags.input !== false &&
    context.stdin.isTTY &&
    context.stderr.isTTY &&
    !isCi(context.env["CI"]);
  const refuse = (question: string, remedy: Remedy): CliError =>
    new CliError(remedy.exit, `there is no terminal to ask on: ${question}`, {
      hints: [`give it with ${remedy.flag}`],
    });
  const say = async (text: string): Promise<void> => {
    // Questions may quote a file's words, so they pass the gate; with --quiet they are asked all the same.
    await (output.quiet ? output.problem(text) : output.aside(text));
    await output.flush();
  };
  return {
    canAsk,
    async ask(question, remedy, preset) {
      if (!canAsk) throw refuse(question, remedy);
      await say(`${question}${preset ? ` [${preset}]` : ""}: `);
      return (await readLine(context, false)).trim() || (preset ?? "");
    },
    async askHidden(question, remedy) {
      if (!canAsk) throw refuse(question, remedy);
      await say(`${question} (not shown): `);
      try {
        return (await readLine(context, true)).trim();
      } finally {
        // The key that ended the line was not shown either.
        if (!output.quiet) await say("\n");
      }
    },
    async confirm(question) {
      if (!canAsk) return false;
      await say(`${question} [y/N] `);
      return /^y/i.test((await readLine(context, false)).trim());
    },
  };
}

/** Asks about trusting a project file, or undefined where nobody can answer. */
export function trustPrompt(
  context: Context,
  flags: GlobalFlags,
  output: Output,
): ((question: string) => Promise<boolean>) | undefined {
  const prompt = createPrompt(context, flags, output);
  return prompt.canAsk ? (question) => prompt.confirm(question) : undefined;
}

const longestKey = 64 * 1024;

/** Reads the key that is piped in for `--with-token`. Throws CliError `not-configured` when it is empty. */
export async function readPipedKey(context: Context): Promise<string> {
  if (context.stdin.isTTY) {
    throw new CliError("usage", "--with-token reads the key from a pipe, and stdin is a terminal", {
      hints: [
        "pipe it in: knowctl login --with-token < key.txt",
        "or leave --with-token out to be asked",
      ],
    });
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of context.stdin) {
    size += chunk.length;
    if (size > longestKey) throw new CliError("usage", "stdin holds more than a key");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8").trim();
}
