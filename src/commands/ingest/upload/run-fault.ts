import { ApiError, CliError } from "../../../errors.ts";

// The place of the source type in the service's words about a wrong value (observed-service.md 6.2).
const aboutSource = /\bdocument\.source: (.*)$/s;

/**
 * Returns the error that stops a run, if a response refuses the source type that `--source` gives to
 * every document: no other document would fare better, and no document needs a change.
 */
export function runFaultOf(source: string | undefined): (error: unknown) => CliError | undefined {
  return (error) => {
    if (source === undefined || !(error instanceof ApiError) || error.status !== 422) {
      return undefined;
    }
    const [, words] = aboutSource.exec(error.message) ?? [];
    // A finished document (JSON) has a source of its own.
    if (!words?.startsWith(`"${source}" is unknown`)) return undefined;
    return new CliError("usage", `--source: the service refuses it: ${words}`, { cause: error });
  };
}
