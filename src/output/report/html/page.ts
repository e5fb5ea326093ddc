import { escapeHtml } from "../text.ts";
import { style } from "./html-style.ts";

/**
 * The start of a report, up to `<main>`. The page loads nothing and runs no script. `style` adds
 * rules of one report; it is not escaped.
 */
export function pageStart(page: { title: string; generator: string; style?: string }): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="generator" content="${escapeHtml(page.generator)}">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(page.title)}</title>
<style>${style}${page.style ?? ""}</style></head><body><main>
`;
}
