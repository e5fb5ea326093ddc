import { CliError } from "../../../../errors.ts";

/** Tracks ignore regions as in Markdown. Call it only outside hidden elements. */
export function trackIgnored(ignored: number[], text: string, at: number): void {
  const slash = /^[ \t]*(\/?)knowctl:ignore[ \t]*$/.exec(text)?.[1];
  if (slash === "") ignored.push(at);
  else if (slash !== undefined) ignored.pop();
}

/** Throws CliError `usage` for a region that is never closed. */
export function refuseOpenRegion(ignored: readonly number[], text: string, path: string): void {
  const open = ignored[0];
  if (open === undefined) return;
  const line = text.slice(0, open).split("\n").length;
  throw new CliError("usage", `${path}:${line}:1: the knowctl:ignore region is never closed`, {
    hints: ["close it with <!-- /knowctl:ignore -->"],
  });
}
