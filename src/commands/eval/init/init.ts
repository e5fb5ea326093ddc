import { existsSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { draftSuite } from "../../../checks/eval/draft/draft-suite.ts";
import type { StateFlag } from "../../files-in-state.ts";
import type { GlobalFlags } from "../../../config/global-flags.ts";
import type { Context } from "../../../context.ts";
import { CliError, codeOf, writeProblem } from "../../../errors.ts";
import { makeFolder } from "../../../make-folder.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { countOf } from "../../../output/terminal/progress.ts";
import { connect, openOutput } from "../../connect.ts";
import { openFolder } from "../open-folder.ts";
import { draftFromFiles, type Drafts } from "./from-files.ts";

export interface InitOptions extends GlobalFlags, StateFlag {
  fromSessions?: boolean;
  /** Cases, at most. */
  limit?: number;
  out?: string;
}

const defaultLimit = 50;
const lastStep = "Remove the line `review: true`. The case counts from then on.";

interface Draft {
  text: string;
  /** What was drafted, for the last line. */
  note: string;
}

const firstOf = (all: readonly string[]): string =>
  all.length === 1 ? `: ${all[0]}` : `, the first is ${all[0]}`;

/** Reports the files that no case can be drafted from. */
async function reportSkipped(output: Output, { rowFiles, failures }: Drafts): Promise<void> {
  if (rowFiles.length > 0) {
    const count = countOf(rowFiles.length, "file");
    await output.note(
      `${count} of rows skipped${firstOf(rowFiles)}: a case needs a file with one document`,
    );
  }
  if (failures.length > 0) {
    await output.warn(`${countOf(failures.length, "file")} skipped${firstOf(failures)}`);
  }
}

async function fromFiles(
  context: Context,
  output: Output,
  paths: readonly string[],
  options: InitOptions,
): Promise<Draft> {
  const folder = await openFolder(context, output, paths, options);
  try {
    const drafts = await draftFromFiles(folder, options.limit ?? defaultLimit);
    const { cases, files } = drafts;
    await reportSkipped(output, drafts);
    if (cases.length === 0) {
      throw new CliError("usage", "there is no document to draft a question from", {
        hints: ["name a folder with documents, for example `knowctl eval init docs`"],
      });
    }
    const origin = `${cases.length} of ${countOf(files, "file")}`;
    const text = draftSuite(cases, origin, [
      "Write the question as people ask it.",
      "Check that the documents answer it. Add others, and `expect`.",
      lastStep,
    ]);
    return { text, note: `${countOf(cases.length, "case")} drafted from ${origin}` };
  } finally {
    await folder.close();
  }
}

async function fromSessions(context: Context, options: InitOptions): Promise<Draft> {
  const connected = await connect(context, options);
  try {
    const { draftFromSessions, mostSessions } = await import("./from-sessions.ts");
    await connected.output.note(`reading up to ${mostSessions} stored sessions; costs no tokens`);
    const limit = options.limit ?? defaultLimit;
    const { cases, read } = await draftFromSessions(context, options, connected, limit);
    if (cases.length === 0) {
      throw new CliError("not-found", "the stored sessions contain no question", {
        hints: ["`knowctl sessions list` shows them; `knowctl eval init docs` needs none"],
      });
    }
    const origin = `questions of ${countOf(read, "session")}`;
    const text = draftSuite(cases, origin, [
      "Remove names and other personal data from the question.",
      "Write the documents to find (`must_retrieve`), or what to answer (`expect`).",
      lastStep,
    ]);
    return { text, note: `${countOf(cases.length, "case")} drafted from ${origin}` };
  } finally {
    await connected.client.close();
  }
}

function fileExists(file: string): CliError {
  return new CliError("usage", `--out: ${file} exists, and a suite is never overwritten`, {
    hints: ["name another file"],
  });
}

/** Throws CliError `usage` if the file exists, `local` if it cannot be written. */
function writeNew(path: string, file: string, text: string): void {
  try {
    makeFolder(dirname(path));
    writeFileSync(path, text, { flag: "wx" });
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST") throw fileExists(file);
    throw new CliError("local", `cannot write ${file}: ${writeProblem(code)}`, {
      hints: ["name another file with --out"],
      cause: error,
    });
  }
}

/**
 * `knowctl eval init`: drafts a suite from documents, or from stored sessions. Throws CliError `usage`
 * without a document, `not-found` without a question, and where the dialect lists no sessions.
 */
export async function evalInit(
  context: Context,
  paths: string[],
  options: InitOptions,
): Promise<void> {
  const output = openOutput(context, options);
  const { out } = options;
  if (out !== undefined && existsSync(resolve(context.cwd, out))) throw fileExists(out);
  const { text, note } = options.fromSessions
    ? await fromSessions(context, options)
    : await fromFiles(context, output, paths, options);
  if (out === undefined) await output.write(text);
  else writeNew(resolve(context.cwd, out), out, output.secrets.redact(text));
  const where = out === undefined ? "" : ` to ${out}`;
  await output.note(`${note}${where}; each waits for your review (\`review: true\`)`);
}
