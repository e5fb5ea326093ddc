import { onTestFinished } from "vitest";
import type { Chromium, Page } from "../../../scripts/chromium.js";
import type { IngestionDocument } from "../../../src/api/schemas.ts";
import type { SandboxOptions } from "../../../src/sandbox/options.ts";
import { documentOf, type Started, start } from "../start.ts";

export interface Opened {
  page: Page;
  sandbox: Started;
  /** What the browser complained about: errors, refused loads, exceptions. */
  problems: string[];
  /** The addresses of all requests. */
  requests: string[];
}

interface Entry {
  entry: { level: string; text: string; url?: string };
}

/** Opens the page of a new sandbox with these documents, and waits until it shows them. */
export async function openPage(
  chromium: Chromium,
  documents: readonly Partial<IngestionDocument>[],
  options: Partial<SandboxOptions> = {},
): Promise<Opened> {
  const sandbox = await start({ key: "sandbox", ...options });
  for (const each of documents) await sandbox.ingest(documentOf(each));
  await sandbox.idle();
  const page = await chromium.newPage();
  onTestFinished(() => page.close());
  const problems: string[] = [];
  const requests: string[] = [];
  page.on<Entry>("Log.entryAdded", ({ entry }) => problems.push(`${entry.level}: ${entry.text}`));
  page.on<{ exceptionDetails: object }>("Runtime.exceptionThrown", ({ exceptionDetails }) =>
    problems.push(JSON.stringify(exceptionDetails)),
  );
  page.on<{ type: string; args: unknown }>("Runtime.consoleAPICalled", ({ type, args }) =>
    problems.push(`console.${type}: ${JSON.stringify(args)}`),
  );
  page.on<{ request: { url: string } }>("Network.requestWillBeSent", ({ request }) =>
    requests.push(request.url),
  );
  await page.send("Network.enable");
  await page.resize(1200, 900);
  await page.open(`${sandbox.url}/`);
  if (options.key === undefined) await untilListed(page, documents.length);
  return { page, sandbox, problems, requests };
}

export async function untilListed(page: Page, documents: number): Promise<void> {
  await page.until(
    `!document.querySelector("main").hidden &&
      document.querySelectorAll("#documents a").length === ${documents}`,
  );
}

/** Types a question, sends it with Enter, and waits for its answer or its failure. */
export async function ask(page: Page, question: string): Promise<void> {
  await page.evaluate(`document.querySelector("#question").focus()`);
  await page.type(question);
  await page.press("Enter");
  await page.until(`document.querySelector("#stop").hidden`);
}

/** The text that is shown of the first element that matches. */
export const textOf = (page: Page, selector: string): Promise<string> =>
  page.evaluate<string>(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ""`);

export const click = (page: Page, selector: string): Promise<void> =>
  page.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);

export const choose = (page: Page, selector: string, value: string): Promise<void> =>
  page.evaluate(`{
    const select = document.querySelector(${JSON.stringify(selector)});
    select.value = ${JSON.stringify(value)};
    select.dispatchEvent(new Event("change"));
  }`);
