import type { pageFromHtml } from "./page.ts";

let atHand: typeof pageFromHtml | undefined;

/** Loads what writes Markdown from HTML: as much code as the rest of a run, and few Markdown pages need it. */
export async function loadPage(): Promise<void> {
  ({ pageFromHtml: atHand } = await import("./page.ts"));
}

export const isPageAtHand = (): boolean => atHand !== undefined;

/** What loadPage() has loaded. */
export function pageAtHand(): typeof pageFromHtml {
  if (!atHand) throw new Error("the writer of Markdown was not loaded");
  return atHand;
}
