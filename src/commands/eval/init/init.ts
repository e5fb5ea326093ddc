import type { Context } from "../../../context.ts";
import { CliError } from "../../../errors.ts";

export interface InitOptions {
  fromSessions?: boolean;
  /** Cases, at most. */
  limit?: number;
  out?: string;
}

/** `knowctl eval init`: drafts a suite from documents, or from stored sessions. */
export function evalInit(
  _context: Context,
  _paths: string[],
  _options: InitOptions,
): Promise<void> {
  throw new CliError("usage", "eval init is not implemented yet");
}
