import { existsSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { draftQuestions, draftSearches, meaningOf } from "../../checks/eval/draft/questions.ts";
import { draftSuite, type DraftCase } from "../../checks/eval/draft/suite-text.ts";
import type { StateFlag } from "../files-in-state.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { CliError, codeOf, writeProblem } from "../../errors.ts";
import { makeFolder } from "../../make-folder.ts";
import { createOutput, type Output } from "../../output/terminal/output.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { withConnection, whileAsking } from "../connect.ts";
import { batchSize, listFolder, lookAt, openFolder, type Failure, type Folder } from "./project.ts";
import { chooseSample } from "../../checks/verify/sample.ts";
import type { IngestionRequest } from "../../api/schemas.ts";
import type { ReadyDocument } from "../../documents/inspect/inspection.ts";

interface Drafts {
  cases: DraftCase[];
  /** Files that a case could be drafted from. */
  files: number;
  /** Read files whose headings give no question. */
  silent: number;
  /** Paths of files of rows: no case is drafted from a row. */
  rowFiles: readonly string[];
  /** Files that could not be read. */
  failures: readonly Failure[];
}

const failureText = ({ path, reason }: Failure): string =>
  reason.startsWith(path) ? reason : `${path}: ${reason}`;

/** Cases of one page, at most: a page has many headings, and people ask about few. */
const mostPerPage = 3;

const searchRemark = "words to search for: write the question as people ask it";

/** The cases that a document can have, the best first; none if its headings give no question. */
function draftsOf({ path, body }: ReadyDocument, draft: typeof draftQuestions): DraftCase[] {
  const { document } = JSON.parse(Buffer.from(body).toString()) as IngestionRequest;
  const texts = document.sections.map(({ text = "" }) => text);
  const title = document.title || document.semantic_identifier;
  return draft({ title, texts }).map(({ text, isSearch }) => ({
    name: path.replace(/\.[^./]+$/, ""),
    group: path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : undefined,
    question: text,
    mustRetrieve: [{ path }],
    remark: isSearch ? searchRemark : undefined,
  }));
}

/** Up to `limit` cases: the best of each page, then the second best; none that asks what another does. */
function chooseDrafts(pages: readonly DraftCase[][], limit: number): DraftCase[] {
  const chosen: DraftCase[] = [];
  const meanings = new Set<string>();
  const open = pages.map((drafts) => ({ drafts, next: 0 }));
  for (let round = 0; round < mostPerPage; round++) {
    for (const page of open) {
      let draft: DraftCase | undefined;
      do draft = page.drafts[page.next++];
      while (draft && meanings.has(meaningOf(draft.question)));
      if (!draft || chosen.length >= limit) continue;
      meanings.add(meaningOf(draft.question));
      chosen.push(draft);
    }
  }
  return chosen.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/**
 * Drafts up to `limit` cases, spread over the folders and pages. The choice is the same for the same
 * files. Reads only the chosen files: one without a question makes room for another one.
 */
async function draftFromFiles(
  folder: Folder,
  limit: number,
  draft = draftQuestions,
): Promise<Drafts> {
  const { files, rowFiles, failures } = listFolder(folder);
  let candidates = files.map((file) => ({ ...file, id: file.path, isSuspect: false }));
  const drafts = new Map<string, DraftCase[]>();
  let silent = 0;
  for (;;) {
    const chosen = chooseSample(candidates, limit);
    const unread = chosen.filter(({ path }) => !drafts.has(path)).slice(0, batchSize);
    if (unread.length === 0) {
      const cases = chooseDrafts(
        chosen.map(({ path }) => drafts.get(path) ?? []),
        limit,
      );
      return { cases, files: candidates.length + silent, silent, rowFiles, failures };
    }
    const bad = new Set(unread.map(({ path }) => path));
    for await (const each of lookAt(folder, unread)) {
      if (each.kind === "failed") failures.push(each);
      if (each.kind !== "document") continue;
      const found = draftsOf(each, draft);
      if (found.length === 0) silent++;
      else if (bad.delete(each.path)) drafts.set(each.path, found);
    }
    candidates = candidates.filter(({ path }) => !bad.has(path));
  }
}

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
async function reportSkipped(
  output: Output,
  { rowFiles, failures, silent }: Drafts,
): Promise<void> {
  if (silent > 0) {
    await output.note(`${countOf(silent, "file")} skipped: no heading gives a question`);
  }
  if (rowFiles.length > 0) {
    const count = countOf(rowFiles.length, "file");
    await output.note(
      `${count} of rows skipped${firstOf(rowFiles)}: a case needs a file with one document`,
    );
  }
  if (failures.length > 0) {
    await output.warn(
      `${countOf(failures.length, "file")} skipped${firstOf(failures.map(failureText))}`,
    );
  }
}

// A section of an upload begins with its path, and its level is lost.
const asWhole = { sections: "whole" };

function nothingDrafted({ silent }: Drafts): CliError {
  return silent > 0
    ? new CliError("usage", "no heading gives a question", {
        hints: ["write the suite by hand, or give the pages headings that name their subjects"],
      })
    : new CliError("usage", "there is no document to draft a question from", {
        hints: ["name a folder with documents, for example `knowctl eval init docs`"],
      });
}

async function fromFiles(
  context: Context,
  output: Output,
  paths: readonly string[],
  options: InitOptions,
): Promise<Draft> {
  const folder = await openFolder(context, output, paths, { ...options, ...asWhole });
  try {
    const limit = options.limit ?? defaultLimit;
    const questions = await draftFromFiles(folder, limit);
    const drafts =
      questions.cases.length > 0 ? questions : await draftFromFiles(folder, limit, draftSearches);
    const { cases, files } = drafts;
    await reportSkipped(output, drafts);
    if (cases.length === 0) {
      throw nothingDrafted(drafts);
    }
    const pages = new Set(cases.map(({ name }) => name)).size;
    const origin = `${pages} of ${countOf(files, "file")}`;
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
  return await withConnection(context, options, async (connected) => {
    const { draftFromSessions, mostSessions } = await import("./from-sessions.ts");
    await connected.output.note(`reading up to ${mostSessions} stored sessions; costs no tokens`);
    const limit = options.limit ?? defaultLimit;
    const { cases, read } = await whileAsking(connected, () =>
      draftFromSessions(context, options, connected, limit),
    );
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
  });
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
  const output = createOutput(context, options);
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
