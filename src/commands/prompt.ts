import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { GlobalFlags } from "../config/global-flags.ts";
import type { Context } from "../context.ts";
import { CliError, type ExitName } from "../errors.ts";
import type { Output } from "../output/terminal/output.ts";
import { wrapWords } from "../output/terminal/width.ts";

/** Questions on the terminal. Each has a remedy for use without a terminal. */
export interface Prompt {
  /** Whether questions are possible: a terminal, no `--no-input`, no CI. */
  readonly canAsk: boolean;
  /** The terminal was closed, or Ctrl-D was typed: no answer will come. */
  readonly hasEnded: boolean;
  /** Reads a trimmed line of text; an empty line is `preset`. */
  ask(question: string, remedy: Remedy, preset?: string): Promise<string>;
  /** Reads a line without echo. */
  askHidden(question: string, remedy: Remedy): Promise<string>;
  /** True only for an answer that begins with y; with `preset` for an empty line too. */
  confirm(question: string, preset?: boolean): Promise<boolean>;
}

/** The flag that replaces an answer, and the exit of a missing answer. */
interface Remedy {
  exit: ExitName;
  /** `--base-url` */
  flag: string;
}

function isCi(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "false"].includes(value.toLowerCase());
}

/** Discards the echo of readline, for secrets. */
function discardStream(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

const inputEnded = (): CliError =>
  new CliError("usage", "the input ended before an answer", { hints: ["nothing was changed"] });

async function readLine(context: Context, isHidden: boolean): Promise<string> {
  context.signal.throwIfAborted();
  // An ended stream sends no event again, and Node would exit with 0 while this waits for one.
  if (context.stdin.stream.readableEnded) throw inputEnded();
  const lines = createInterface({
    input: context.stdin.stream,
    // Without `terminal`, the terminal echoes and edits; with it, readline reads raw keys.
    ...(isHidden
      ? { output: discardStream(), terminal: true, historySize: 0 }
      : { terminal: false }),
  });
  const answered = new AbortController();
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once("line", resolve);
      lines.once("close", () => reject(inputEnded()));
      // In raw mode, Ctrl-C is a key, not a signal.
      lines.once("SIGINT", () =>
        reject(new CliError("interrupted", "interrupted; nothing was changed")),
      );
      context.signal.addEventListener("abort", () => reject(context.signal.reason as Error), {
        once: true,
        signal: answered.signal,
      });
    });
  } finally {
    answered.abort();
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
      hints: [`set it with ${remedy.flag}`],
    });
  const write = async (text: string): Promise<void> => {
    // Questions may quote a file, so they pass the output gate. With --quiet they are still shown.
    await (output.quiet ? output.problem(text) : output.aside(text));
    await output.flush();
  };
  const readAnswer = async (): Promise<string> => {
    try {
      return (await readLine(context, false)).trim();
    } catch (error) {
      // Without the Enter key, the error would continue the line of the question.
      if (!output.quiet) await write("\n").catch(() => {});
      throw error;
    }
  };
  return {
    get hasEnded() {
      return context.stdin.stream.readableEnded;
    },
    canAsk,
    async ask(question, remedy, preset) {
      if (!canAsk) throw refuse(question, remedy);
      await write(`${question}${preset ? ` [${preset}]` : ""}: `);
      return (await readAnswer()) || (preset ?? "");
    },
    async askHidden(question, remedy) {
      if (!canAsk) throw refuse(question, remedy);
      await write(`${question} (not shown): `);
      try {
        return (await readLine(context, true)).trim();
      } finally {
        // The Enter key was not echoed either.
        if (!output.quiet) await write("\n");
      }
    },
    async confirm(question, preset = false) {
      if (!canAsk) return false;
      const text = `${question} ${preset ? "[Y/n]" : "[y/N]"}`;
      // The answer needs some columns too.
      const rows = text.split("\n").flatMap((line) => wrapWords(line, output.columns() - 4));
      await write(`${rows.join("\n")} `);
      const answer = await readAnswer();
      return answer === "" ? preset : /^y/i.test(answer);
    },
  };
}

/**
 * Asks before a change that cannot be undone, unless `isConfirmed` by a flag. `what` names the change:
 * `delete 3 sessions`. Throws CliError `usage` where nobody can be asked.
 */
export async function confirmChange(
  prompt: Prompt,
  isConfirmed: boolean | undefined,
  question: () => string | Promise<string>,
  what: string,
  hint = "confirm with --yes",
): Promise<boolean> {
  if (isConfirmed) return true;
  if (prompt.canAsk) return await prompt.confirm(await question());
  const message = `this would ${what}, and there is no terminal to ask on`;
  throw new CliError("usage", message, { hints: [hint] });
}

/** Returns a prompt for trust in a project file, or undefined without a terminal. */
export function trustPrompt(
  context: Context,
  flags: GlobalFlags,
  output: Output,
): ((question: string) => Promise<boolean>) | undefined {
  const prompt = createPrompt(context, flags, output);
  return prompt.canAsk ? (question) => prompt.confirm(question) : undefined;
}

const maxKeyBytes = 64 * 1024;

/** Reads the key of `--with-token` from stdin. Throws CliError `usage` for a terminal or a too long text. */
export async function readPipedKey(context: Context): Promise<string> {
  if (context.stdin.isTTY) {
    throw new CliError("usage", "--with-token reads the key from a pipe, but stdin is a terminal", {
      hints: [
        "pipe it in: knowctl login --with-token < key.txt",
        "or leave out --with-token to enter it",
      ],
    });
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of context.stdin) {
    size += chunk.length;
    if (size > maxKeyBytes) throw new CliError("usage", "stdin holds more than a key");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8").trim();
}
