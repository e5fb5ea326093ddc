import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { CliError, codeOf } from "../../../errors.ts";
import { createByteLines } from "../../../documents/byte-lines.ts";

const mostLineBytes = 256 * 1024 * 1024;

/** What an earlier run has told, by question. */
export interface Earlier {
  /** The question was answered. */
  answered: number;
  /** It may have been answered: its answer was cut or interrupted after it had been sent. */
  unknown: number;
  /** Whether a question must not be asked again. */
  has(name: { line: number; id?: string }): boolean;
}

function keyOf({ line, id }: { line?: unknown; id?: unknown }): string | undefined {
  if (typeof id === "string") return `id ${id}`;
  return typeof line === "number" ? `line ${line}` : undefined;
}

function parse(bytes: Buffer | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(bytes?.toString() ?? "");
    return typeof value === "object" && value !== null ? (value as never) : undefined;
  } catch {
    // A kill may have cut the last line; its question is asked again.
    return undefined;
  }
}

/**
 * Reads the results of an earlier run: of a question that was answered, or may
 * have been, the name is kept. Throws CliError `usage` for a file that cannot be
 * read.
 */
export async function readResults(cwd: string, file: string): Promise<Earlier> {
  const names = new Set<string>();
  const counts = { answered: 0, unknown: 0 };
  const splitter = createByteLines(mostLineBytes);
  const take = (bytes: Buffer | undefined): void => {
    const value = parse(bytes);
    const key = value?.["type"] === "result" ? keyOf(value) : undefined;
    if (!value || key === undefined || value["status"] === "error" || names.has(key)) return;
    names.add(key);
    if (value["status"] === "ok") counts.answered++;
    else counts.unknown++;
  };
  try {
    for await (const chunk of createReadStream(resolve(cwd, file))) {
      for (const { bytes } of splitter.push(chunk as Buffer)) take(bytes);
    }
    for (const { bytes } of splitter.end()) take(bytes);
  } catch (error) {
    throw new CliError("usage", `--resume: cannot read ${file}: ${codeOf(error) ?? "failed"}`, {
      hints: ["name what an earlier --batch has written"],
      cause: error,
    });
  }
  return { ...counts, has: (name) => names.has(keyOf(name) ?? "") };
}
