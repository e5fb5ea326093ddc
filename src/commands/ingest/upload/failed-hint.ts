import { relativeTo } from "../../../documents/find/root.ts";
import type { UploadSession } from "../session.ts";

interface FailedUpload extends Pick<UploadSession, "source"> {
  /** Documents from stdin. */
  stream?: unknown;
  options: { state?: string | boolean };
}

/** What to do about documents that failed, of which `broken` would fail again as they are. */
export function failedHint({ stream, options, source }: FailedUpload, broken: number): string {
  const needsFix = broken > 0;
  // `retry` needs files and a state.
  if (stream) {
    return `${needsFix ? "fix them and " : ""}send them again; accepted documents are not sent twice`;
  }
  if (options.state === false) {
    return needsFix
      ? "fix them, then run the command again"
      : "run the command again: it sends them again";
  }
  const { cwd, settings } = source;
  const state = typeof options.state === "string" ? ` --state ${options.state}` : "";
  // From another folder the command would open another state.
  const place = relativeTo(settings.root, cwd) === undefined ? ` in ${settings.root}` : "";
  const retry = `\`knowctl retry${state}\`${place}`;
  return needsFix
    ? `fix them, then run ${retry} or the same command again`
    : `${retry} sends them again`;
}
