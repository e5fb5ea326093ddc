import type * as z from "zod/mini";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { loadSettings } from "../connect.ts";
import type { LineResult } from "./run-line.ts";
import { createOutput } from "../../output/terminal/output.ts";

/** Model calls that the server may still make. */
export interface Allowance {
  left(): number;
  /** Takes all of them, or none: then false. */
  take(calls: number): boolean;
  giveBack(calls: number): void;
}

export function createAllowance(calls: number): Allowance {
  let left = calls;
  return {
    left: () => left,
    take(wanted) {
      if (wanted > left) return false;
      left -= wanted;
      return true;
    },
    giveBack: (unused) => void (left += unused),
  };
}

/** What agents may do beside reading. */
export interface Permission {
  allowance: Allowance;
  /** The folder that agents may upload, relative to the root. */
  ingest: string | undefined;
  ccPairId: number | undefined;
}

/** What a tool may use. */
export interface Toolbox extends Permission {
  /** Of the call: its signal ends with it. */
  context: Context;
  /** Global flags of the server. */
  flags: GlobalFlags;
  /** The project: absolute. */
  root: string;
  /** Runs a command line; `signal` and progress are those of the call. */
  run(argv: readonly string[]): Promise<LineResult>;
}

/** What a tool answers: its structure, which follows the schema, and a page of text. */
export interface Answer {
  structured: Record<string, unknown>;
  text: string;
  /** Something failed: the result is not complete. */
  isError?: boolean;
}

/** A tool that agents may call. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  input: z.ZodMiniType;
  output: z.ZodMiniType;
  annotations: Readonly<Record<string, boolean>>;
  /** Throws CliError for what the tool refuses or cannot do. */
  call(input: never, box: Toolbox): Promise<Answer>;
}

/**
 * Selects paths without naming them: a file that is named is taken even if it is hidden or ignored,
 * one that a pattern selects only if an upload would find it. Throws CliError `usage`.
 */
export function selection(given: readonly string[] | undefined): string[] {
  return (given ?? []).flatMap((path) => {
    const names = path.replace(/^\.\//, "").replace(/\/+$/, "").split("/");
    const isBad = path.startsWith("/") || names.includes("..") || /[\\\0]|^[A-Za-z]:/.test(path);
    if (isBad) {
      throw new CliError("usage", `${path}: paths are relative to the project root, with "/"`);
    }
    const pattern = names.join("/").replace(/[[\]{}()*?!+@|]/g, "\\$&");
    if (pattern === "." || pattern === "") return [];
    // Braces anchor it: a bare name would match in every folder, a leading @ is no pattern.
    return [`--include={,./}${pattern}`, `--include={,./}${pattern}/**`];
  });
}

/** The arguments for the files that an upload without paths takes: the configured `include`, else all. */
export async function allFiles({ context, flags, root }: Toolbox): Promise<string[]> {
  const output = createOutput(context, flags);
  const { ingest } = await loadSettings(context, flags, output, { sends: false, root });
  return (ingest.include ?? []).length > 0 ? [] : ["--", "."];
}

/** Throws what a command line failed with; `fine` are exits with a result. */
export function checkExit(
  { exit, notes: lines }: LineResult,
  fine: readonly LineResult["exit"][] = [],
): void {
  if (exit === "ok" || fine.includes(exit)) return;
  const said = lines.join("\n").replace(/^error: /, "");
  throw new CliError(exit, said || `the command ended with ${exit}`);
}
