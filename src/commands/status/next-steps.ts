import type { StatusSummary } from "../../output/status.ts";
import { countOf } from "../../output/terminal/progress.ts";
import type { DocumentSource } from "../ingest/options/settings.ts";

function remoteSteps(
  { remote }: StatusSummary,
  upload: string,
  noExtra: string | undefined,
): string[] {
  if (!remote) return [];
  const lines: string[] = [];
  if (remote["not-sent"] > 0) lines.push(`not sent: \`${upload}\` sends them`);
  if (remote["gone-there"] > 0) {
    lines.push(
      `gone there: \`knowctl state forget PATH\` forgets a record; then \`${upload}\` sends the file, if it exists`,
    );
  }
  if ((remote.extra ?? 0) > 0) lines.push("extra: `knowctl prune --extra` removes them");
  if (remote.elsewhere > 0)
    lines.push("elsewhere: `knowctl explain FILE` shows the pair of a file");
  if (noExtra !== undefined) lines.push(`extra documents were not determined: ${noExtra}`);
  return lines;
}

/** What removes each kind of difference, a line each; `noExtra` is why extra documents are not known. */
export function nextSteps(
  summary: StatusSummary,
  { inputs, settings, isWhole }: DocumentSource,
  noExtra: string | undefined,
): string[] {
  // Without a path, an upload takes what is configured and nothing else.
  const isConfigured = (isWhole === true || inputs.length === 0) && settings.include.length > 0;
  const upload = isConfigured ? "knowctl ingest" : "knowctl ingest PATH";
  const { classes, remote, unchanged, unreadable, failed, gone } = summary;
  const pending = summary.new + summary.changed;
  const remoteCount = remote
    ? remote["not-sent"] + remote["gone-there"] + remote.elsewhere + (remote.extra ?? 0)
    : 0;
  const lines: string[] = [];
  if (pending + failed + gone + remoteCount + unreadable === 0) {
    lines.push(
      remote
        ? `no difference; the service lists ${countOf(remote.listed, "document")}`
        : `no difference: ${countOf(unchanged, "document")} unchanged`,
    );
  }
  if (pending > 0) lines.push(`new and changed: \`${upload}\` sends them`);
  if (failed > unreadable) lines.push("failed: `knowctl retry` sends them again");
  const removable = classes.gone + classes["row-gone"];
  if (removable > 0) lines.push("gone: `knowctl prune` removes them from the service");
  if (gone > removable) {
    lines.push("gone, though the file exists: `knowctl prune --class NAME` removes a class");
  }
  return [...lines, ...remoteSteps(summary, upload, noExtra)];
}
