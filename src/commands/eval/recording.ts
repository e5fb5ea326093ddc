import { refuseSpecial } from "../../recording.ts";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import * as z from "zod/mini";
import { hash } from "node:crypto";
import { repliesShape, type CaseReplies } from "../../checks/eval/replies.ts";
import { EvalBasis } from "../../checks/eval/result.ts";
import type { EvalCase } from "../../checks/eval/suite/suite.ts";
import { CliError, codeOf, fileProblem, messageOf, writeProblem } from "../../errors.ts";
import type { Context } from "../../context.ts";
import { writeFilePieces } from "../../output/report/file.ts";
import type { RunIdentity } from "../../output/report/stored/record.ts";
import type { Output } from "../../output/terminal/output.ts";
import { noReply, type Replies } from "./cases.ts";
import { openProject, type BeginEval } from "./project.ts";
import type { ReplySource } from "./service.ts";
import type { EvalOptions, Prepared } from "./suites.ts";
import { redactAll } from "../../output/terminal/redact.ts";

const RecordedCase = z.object({ version: z.literal(1), id: z.string(), ...repliesShape });
const RecordingHead = z.object({
  version: z.literal(1),
  basis: EvalBasis,
  startedAt: z.string(),
  run: z.optional(z.string()),
  host: z.optional(z.string()),
  commit: z.optional(z.string()),
  /** Absent if the run has not ended. */
  elapsedMs: z.optional(z.number()),
  /** Why the run ended early. */
  stopped: z.optional(z.string()),
  /** Present if the sandbox was asked. */
  sandbox: z.optional(z.literal(true)),
});
export type RecordingHead = z.infer<typeof RecordingHead>;

/** Of one file: parsed, it needs many times its size. */
const maxBytes = 32 * 1024 * 1024;

const headName = "recording.json";

function usage(message: string, hint: string, cause?: unknown): CliError {
  return new CliError("usage", message, { hints: [hint], cause });
}

/** File of a case in the folder: readable, and different for ids that differ only in case. */
function caseFile({ id }: Pick<EvalCase, "id">): string {
  const readable = id.replace(/[^A-Za-z0-9-]+/g, "-").slice(0, 60);
  const digest = hash("sha256", id, "hex").slice(0, 8);
  return `cases/case-${readable}-${digest}.json`;
}

/** The absolute path of a new recording. Throws CliError `usage` unless the folder is empty or missing. */
export function checkRecordFolder(cwd: string, folder: string): string {
  const path = resolve(cwd, folder);
  try {
    if (readdirSync(path).length === 0) return path;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return path;
    throw usage(
      `--record ${folder}: ${writeProblem(codeOf(error) ?? messageOf(error))}`,
      "name a new folder",
    );
  }
  throw usage(`--record ${folder}: the folder is not empty`, "name a new folder");
}

export interface Recorder {
  addCase(evalCase: EvalCase, replies: CaseReplies): Promise<void>;
  /** Writes how the run ended. */
  end(end: Pick<RecordingHead, "elapsedMs" | "stopped" | "sandbox">): Promise<void>;
}

/**
 * Starts a recording in an empty folder: a file that names what was asked, and a file for each case.
 * Registered secrets are redacted. Throws CliError `local` if a file cannot be written.
 */
export async function startRecording(
  folder: string,
  basis: EvalBasis,
  { redact, ...about }: RunIdentity & { startedAt: string; redact: (text: string) => string },
): Promise<Recorder> {
  const write = async (path: string, value: object): Promise<void> => {
    const text = JSON.stringify(redactAll(value, redact), undefined, 2);
    await writeFilePieces(path, [`${text}\n`], "the recording");
  };
  const head = { version: 1, basis, ...about };
  await write(join(folder, headName), head);
  return {
    async addCase({ id, question, ...rest }, { runs, control }) {
      const file = join(folder, caseFile({ id }));
      await write(file, { version: 1, id, question, profile: rest.profile, runs, control });
    },
    end: (end) => write(join(folder, headName), { ...head, ...end }),
  };
}

/** `name` is the file in messages. */
function readJson<Shape extends z.ZodMiniType>(
  path: string,
  name: string,
  shape: Shape,
): z.infer<Shape> {
  let value: unknown;
  try {
    if (statSync(path).size > maxBytes) {
      throw usage(`the recording ${name} is larger than 32 MiB`, "record the run again");
    }
    refuseSpecial(path, "a recorded response is read from a file");
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (error instanceof CliError) throw error;
    const why = fileProblem(codeOf(error) ?? "it is not JSON");
    throw usage(`cannot read the recording ${name}: ${why}`, "record the run again", error);
  }
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0]?.path.join(".") ?? "";
  throw usage(
    `${name} is no recording of this version: ${where || "it"} is not as expected`,
    "record the run again",
  );
}

/** The recorded replies to a case. Throws CliError `usage` for a broken file. */
function recordedReplies(folder: string, evalCase: EvalCase): CaseReplies | undefined {
  const file = caseFile(evalCase);
  try {
    // Named within the folder: the reason of an error is the same from any place.
    const recorded = readJson(join(folder, file), file, RecordedCase);
    if (recorded.id === evalCase.id) return recorded;
    throw usage(`${file} holds another case: ${recorded.id}`, "record the run again");
  } catch (error) {
    if (error instanceof CliError && codeOf(error.cause) === "ENOENT") return undefined;
    throw error;
  }
}

/** Replies of a recording. What it does not hold is an error of the case. */
function createReplay(folder: string): Replies {
  const read = new Map<EvalCase, CaseReplies | string>();
  const repliesOf = (evalCase: EvalCase): CaseReplies | string => {
    try {
      return recordedReplies(folder, evalCase) ?? "the recording does not hold this case";
    } catch (error) {
      if (error instanceof CliError) return error.message;
      throw error;
    }
  };
  return {
    stopped: () => undefined,
    get(evalCase, attempt) {
      const replies = read.get(evalCase) ?? repliesOf(evalCase);
      read.set(evalCase, replies);
      if (typeof replies === "string") return Promise.resolve(noReply(replies));
      const reply = attempt === "control" ? replies.control : replies.runs[attempt - 1];
      return Promise.resolve(reply ?? noReply("the recording does not hold this repetition"));
    },
  };
}

/** How the recorded run ended. A run that was killed recorded no end: its time is unknown. */
function withEnd(head: RecordingHead): RecordingHead {
  if (head.elapsedMs !== undefined) return head;
  return { ...head, elapsedMs: 0, stopped: "the recorded run did not end" };
}

/**
 * Opens the recording of `--replay`, without a profile and without network. Throws CliError `usage`
 * if the folder holds no recording, or one of another suite, command, way or k.
 */
export async function openReplay(
  context: Context,
  output: Output,
  options: EvalOptions & { replay: string },
  { suites, named, k, rules }: Prepared,
  begin: BeginEval,
): Promise<ReplySource & { head: RecordingHead }> {
  const { replay, via } = options;
  const folder = resolve(context.cwd, replay);
  const head = readJson(join(folder, headName), `${replay}/${headName}`, RecordingHead);
  const { basis } = head;
  checkRecording(head, { kind: rules.kind, suites: named, k, via });
  const { root, names } = await openProject(context, options, output, suites, {
    replayed: basis.dialect,
    begin,
  });
  return {
    replies: createReplay(folder),
    basis: { ...basis, suites: named, judge: rules.judges ? basis.judge : null },
    names,
    root,
    isSandbox: () => head.sandbox === true,
    close: () => Promise.resolve(),
    head: withEnd(head),
  };
}

/** Throws CliError `usage` unless the recording answers what is asked: the same suites in the same way. */
function checkRecording(
  { basis }: RecordingHead,
  wanted: Pick<EvalBasis, "kind" | "suites" | "k"> & { via?: string | undefined },
): void {
  const hint = "replay it with the suite, the command and the flags of the run that was recorded";
  const differ = (what: string, recorded: unknown, asked: unknown): CliError =>
    usage(
      `the recording is of another ${what}: recorded ${String(recorded)}, asked for ${String(asked)}`,
      hint,
    );
  if (wanted.kind !== basis.kind) {
    throw differ("command", `eval ${basis.kind}`, `eval ${wanted.kind}`);
  }
  const digestsOf = (suites: EvalBasis["suites"]): string =>
    suites
      .map(({ digest }) => digest)
      .toSorted()
      .join();
  if (digestsOf(wanted.suites) !== digestsOf(basis.suites)) {
    const files = (suites: EvalBasis["suites"]): string =>
      suites.map(({ file, digest }) => `${file} (${digest.slice(0, 8)})`).join(", ");
    throw differ("suite, or of an older version of it", files(basis.suites), files(wanted.suites));
  }
  if (wanted.via !== undefined && wanted.via !== basis.via) {
    throw differ("way", basis.via, wanted.via);
  }
  if (wanted.k !== basis.k) throw differ("k", basis.k, wanted.k);
}
