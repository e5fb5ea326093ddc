import { extname, resolve } from "node:path";
import {
  coverageOf,
  CoverageReport,
  questionOf,
  type AskedQuestion,
  type FolderDocument,
} from "../../checks/eval/coverage.ts";
import type { Context } from "../../context.ts";
import { storedIdsOf } from "../../api/dialects.ts";
import { CliError } from "../../errors.ts";
import { checkMembers, reportFormat, sampleOf } from "../../output/formats/formats.ts";
import { checkReportFiles, writeAll, writeReports } from "../../output/report/forms.ts";
import { coverageReport } from "../../output/report/from/coverage.ts";
import { ciPrefix } from "../../output/report/github.ts";
import { writeData } from "../../output/report/json.ts";
import { writePeople } from "../../output/report/people.ts";
import { readReportText } from "../../output/report/stored/read.ts";
import { createOutput, type Output } from "../../output/terminal/output.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { connect, withConnection, whileAsking } from "../connect.ts";
import { idsInState } from "../files-in-state.ts";
import { findGitRoot } from "../project-root.ts";
import { parseBaseline, searchQuestions } from "./eval.ts";
import { mostSessions, readQuestions } from "./from-sessions.ts";
import { listFolder, lookAt, openFolder, type Folder } from "./project.ts";
import type { EvalOptions } from "./suites.ts";

export interface CoverageOptions extends EvalOptions {
  sessions?: boolean;
}

/** What the arguments of a command line name. */
interface Inputs {
  suites: string[];
  /** Texts of JSON reports, by file. */
  reports: Map<string, string>;
  folders: string[];
}

const isReport = (text: string): boolean =>
  /^\ufeff?\s*\{\s*"version"\s*:\s*1\s*,\s*"command"/.test(text);

async function sortInputs({ cwd }: Context, inputs: readonly string[]): Promise<Inputs> {
  const sorted: Inputs = { suites: [], reports: new Map(), folders: [] };
  for (const input of inputs) {
    const extension = extname(input).toLowerCase();
    const text = extension === ".json" ? await readReportText(resolve(cwd, input), input) : "";
    if (isReport(text)) sorted.reports.set(input, text);
    else if ([".json", ".yaml", ".yml"].includes(extension)) sorted.suites.push(input);
    else sorted.folders.push(input);
  }
  return sorted;
}

/** Questions with their documents, and what is not known of them. */
interface Gathered {
  questions: AskedQuestion[];
  unknown: string[];
  isPartial: boolean;
}

async function questionsOf(
  context: Context,
  output: Output,
  { suites, reports }: Inputs,
  options: CoverageOptions,
): Promise<Gathered> {
  const gathered: Gathered = { questions: [], unknown: [], isPartial: false };
  const { questions, unknown } = gathered;
  const add = (cases: Parameters<typeof questionOf>[0][], stopped: string | null): void => {
    questions.push(...cases.map(questionOf));
    if (stopped !== null) unknown.push(`a run ended early: ${stopped}`);
    gathered.isPartial ||= stopped !== null || cases.some(({ outcome }) => outcome === "error");
  };
  for (const [name, text] of reports) {
    const { cases, stopped, basis } = parseBaseline(text, name, name);
    add(cases, stopped);
    const files = basis.suites.map(({ file }) => file).join(", ");
    unknown.push(`${name} is an earlier run of ${files}: what changed since is not in it`);
  }
  if (suites.length > 0) {
    const { cases, stopped } = await searchQuestions(context, output, suites, options);
    add(cases, stopped);
  }
  if (options.sessions) {
    await withConnection(context, options, async (connected) => {
      await output.note(`reading up to ${mostSessions} stored sessions; costs no tokens`);
      const { asked } = await whileAsking(connected, () => readQuestions(connected));
      for (const [index, { question, sources }] of asked.entries()) {
        const found = sources.map((id) => ({ id, path: null }));
        questions.push({ id: `session question ${index + 1}`, question, sources: found });
      }
    });
  }
  return gathered;
}

/** The documents of the folder, with the ids that the service may store; files of rows are only counted. */
async function readFolder(folder: Folder) {
  const { files, rowFiles, failures } = listFolder(folder);
  const documents: { path: string; id: string }[] = [];
  let failed = failures.length;
  for await (const each of lookAt(folder, files)) {
    if (each.kind === "document") documents.push({ path: each.path, id: each.id });
    if (each.kind === "failed") failed++;
  }
  const unknown = [
    rowFiles.length > 0
      ? `${countOf(rowFiles.length, "file")} of rows left out: each row is a document`
      : "",
    failed > 0 ? `${countOf(failed, "file")} cannot be read` : "",
  ];
  return { documents, unknown: unknown.filter(Boolean) };
}

/** Adds the ids of the service and whether an upload is recorded, where a profile tells the service. */
async function withRecord(
  context: Context,
  documents: readonly { path: string; id: string }[],
  { root, options }: { root: string; options: CoverageOptions },
): Promise<{ documents: FolderDocument[]; unknown: string[] }> {
  const plain = (ids: (id: string) => readonly string[], sent?: ReadonlyMap<string, string[]>) =>
    documents.map(({ path, id }) => ({
      path,
      // An upload may have had another prefix.
      ids: [id, ...(sent?.get(path) ?? [])].flatMap(ids),
      isUploaded: sent?.has(path),
    }));
  const both = (id: string): string[] => [
    ...new Set([...storedIdsOf("standard", id), ...storedIdsOf("onyx", id)]),
  ];
  const uploads = (why: string): string => `which documents are uploaded: ${why}`;
  if (options.replay !== undefined) {
    return { documents: plain(both), unknown: [uploads("recordings do not show it")] };
  }
  let connected: Awaited<ReturnType<typeof connect>>;
  try {
    connected = await connect(context, options);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { documents: plain(both), unknown: [uploads(error.message)] };
  }
  try {
    const { dialect } = connected.config;
    const ids = (id: string): string[] => storedIdsOf(dialect, id);
    const paths = documents.map(({ path }) => path);
    const place = { root, state: options.state };
    const { found, refused } = await idsInState(context, place, connected, paths);
    if (found.size > 0) return { documents: plain(ids, found), unknown: [] };
    const why = refused ?? "no upload of this folder is recorded here";
    return { documents: plain(ids), unknown: [uploads(why)] };
  } finally {
    await connected.client.close();
  }
}

const keyCaveat = "documents that the key of this profile may not see: they count as not retrieved";

/** What the questions do not tell, one sentence each. */
function openQuestions({ questions, unknown }: Gathered): string[] {
  const open = questions.filter(({ sources }) => sources === undefined);
  const reasons = new Map<string, number>();
  for (const { reason } of open) {
    reasons.set(reason ?? "not asked", (reasons.get(reason ?? "not asked") ?? 0) + 1);
  }
  const counted = [...reasons].map(
    ([reason, n]) => `the documents of ${countOf(n, "question")}: ${reason}`,
  );
  return [...unknown, ...counted];
}

/**
 * `knowctl eval coverage`: which documents of a folder no question retrieves or cites, and which
 * questions have no source. Throws CliError `usage` without questions or documents, `partial` if a
 * question ended in an error, and the errors of suites, searches and sessions.
 */
export async function evalCoverage(
  context: Context,
  names: string[],
  options: CoverageOptions,
): Promise<void> {
  const output = createOutput(context, options);
  checkMembers(options, sampleOf(CoverageReport) as object);
  const files = checkReportFiles(options, context.cwd);
  const inputs = await sortInputs(context, names);
  if (inputs.suites.length + inputs.reports.size === 0 && !options.sessions) {
    throw new CliError("usage", "no questions: name a suite, a report, or --sessions", {
      hints: ["knowctl eval coverage suite.yaml docs"],
    });
  }
  const folder = await openFolder(context, output, inputs.folders, options);
  try {
    const { root } = folder.source.settings;
    const read = await readFolder(folder);
    if (read.documents.length === 0) {
      throw new CliError("usage", "there is no document to cover", {
        hints: ["name a folder with documents: knowctl eval coverage suite.yaml docs"],
      });
    }
    const gathered = await questionsOf(context, output, inputs, options);
    const { documents, unknown } = await withRecord(context, read.documents, {
      root,
      options,
    });
    const isLive = inputs.suites.length > 0 && options.replay === undefined;
    const sentences = [
      ...openQuestions(gathered),
      ...unknown,
      ...read.unknown,
      ...(isLive ? [keyCaveat] : []),
    ].map((text) => `not known: ${text}`);
    const result = coverageOf(documents, gathered.questions, sentences, gathered.isPartial);
    const shown = coverageReport(output.secrets.redactAll(result));
    const prefix = ciPrefix(root, findGitRoot(context, root), context.env);
    await writeAll([
      () => writeReports(output, context.env, shown, files, prefix),
      () =>
        reportFormat(options) === "text"
          ? writePeople(output, shown, folder.source.shown, "page")
          : writeData(output, options, shown.data),
    ]);
    if (!gathered.isPartial) return;
    throw new CliError("partial", "not all questions were asked: the coverage is incomplete");
  } finally {
    await folder.close();
  }
}
