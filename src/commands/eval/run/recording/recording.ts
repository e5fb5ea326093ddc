import { createHash } from "node:crypto";
import { refuseSpecial } from "../../../../recording.ts";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import * as z from "zod/mini";
import type { CaseReplies } from "../../../../checks/eval/reply.ts";
import type { EvalBasis } from "../../../../checks/eval/result.ts";
import type { EvalCase } from "../../../../checks/eval/suite/suite.ts";
import { CliError, codeOf, fileProblem, messageOf, writeProblem } from "../../../../errors.ts";
import { writeFilePieces } from "../../../../output/report/file.ts";
import { redactAll } from "../../../../output/terminal/redact.ts";

const Text = z.nullable(z.string());
const Document = z.object({
  rank: z.int().check(z.minimum(1)),
  id: Text,
  title: Text,
  link: Text,
  path: Text,
  snippet: Text,
});
const RecordedReply = z.object({
  answer: z.optional(z.string()),
  retrieved: z.array(Document),
  cited: z.array(Document),
  elapsedMs: z.number(),
  calls: z.int(),
  error: z.optional(z.string()),
  judgements: z.optional(
    z.array(
      z.object({
        index: z.int(),
        score: z.optional(z.number()),
        reason: z.optional(z.string()),
        error: z.optional(z.string()),
      }),
    ),
  ),
});
const RecordedCase = z.object({
  version: z.literal(1),
  id: z.string(),
  runs: z.array(RecordedReply),
  control: z.optional(RecordedReply),
});
const RecordingHead = z.object({
  version: z.literal(1),
  basis: z.object({
    kind: z.enum(["retrieval", "answers"]),
    suites: z.array(z.object({ file: z.string(), digest: z.string() })),
    via: z.string(),
    k: z.nullable(z.int()),
    dialect: z.enum(["standard", "onyx"]),
    judge: Text,
  }),
  startedAt: z.string(),
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
  const hash = createHash("sha256").update(id).digest("hex").slice(0, 8);
  return `cases/case-${readable}-${hash}.json`;
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
  { startedAt, redact }: { startedAt: string; redact: (text: string) => string },
): Promise<Recorder> {
  const write = async (path: string, value: object): Promise<void> => {
    const text = JSON.stringify(redactAll(value, redact), undefined, 2);
    await writeFilePieces(path, [`${text}\n`], "the recording");
  };
  const head = { version: 1, basis, startedAt };
  await write(join(folder, headName), head);
  return {
    async addCase({ id, question, ...rest }, { runs, control }) {
      const file = join(folder, caseFile({ id }));
      await write(file, { version: 1, id, question, profile: rest.profile, runs, control });
    },
    end: (end) => write(join(folder, headName), { ...head, ...end }),
  };
}

export interface Recording {
  head: RecordingHead;
  /** Undefined if the recording has no file for the case. Throws CliError `usage` for a broken file. */
  repliesOf(evalCase: EvalCase): CaseReplies | undefined;
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

/** Opens the folder of `--record`. Throws CliError `usage` if it holds no recording. */
export function openRecording(cwd: string, folder: string): Recording {
  const path = resolve(cwd, folder);
  const head = readJson(join(path, headName), `${folder}/${headName}`, RecordingHead);
  return {
    head,
    repliesOf(evalCase) {
      const file = caseFile(evalCase);
      try {
        // Named within the folder: the reason of an error is the same from any place.
        const recorded = readJson(join(path, file), file, RecordedCase);
        if (recorded.id === evalCase.id) return recorded;
        throw usage(`${file} holds another case: ${recorded.id}`, "record the run again");
      } catch (error) {
        if (error instanceof CliError && codeOf(error.cause) === "ENOENT") return undefined;
        throw error;
      }
    },
  };
}

/** Throws CliError `usage` unless the recording answers what is asked: the same suites in the same way. */
export function checkRecording(
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
