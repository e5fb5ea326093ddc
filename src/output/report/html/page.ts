import { escapeHtml } from "../text.ts";
import { tool } from "../tool.ts";
import { style } from "./html-style.ts";

/**
 * The start of the report of a command, up to `<main>`. The page loads nothing and runs no script. A
 * later upload knows a report by its generator (own-report.ts). `style` adds rules of one report; it
 * is not escaped.
 */
export function pageStart(page: { title: string; command: string; style?: string }): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="generator" content="knowctl ${escapeHtml(page.command)} report">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(page.title)}</title>
<style>${style}${page.style ?? ""}</style></head><body><main>
`;
}

/** The end of a report: the program that wrote it, and a `note`, which is not escaped. */
export function pageEnd(note = "", { name, version } = tool): string {
  return `<footer>Written by ${escapeHtml(`${name} ${version}`)}.${note}</footer>
</main></body></html>
`;
}
