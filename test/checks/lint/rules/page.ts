import { loadReader } from "../../../../src/documents/formats/load-reader.ts";
import { formatFor } from "../../../../src/documents/inspect/read.ts";
import { mapDocument, type Mapped } from "../../../../src/documents/map/map-document.ts";
import { compileSettings, type RawSettings } from "../../../../src/documents/map/settings.ts";
import type { FileFacts } from "../../../../src/documents/files/source-file.ts";
import type { Found, LintPage, PageRule } from "../../../../src/checks/lint/rule.ts";
import { around } from "../../../documents/formats/around.ts";

export interface PageOptions {
  path?: string;
  settings?: Omit<RawSettings, "root">;
  facts?: FileFacts;
}

/** A page of a text format, read and mapped as an upload does it. */
export async function pageOf(source: string, options: PageOptions = {}): Promise<LintPage> {
  const { path = "docs/page.md", facts } = options;
  const settings = compileSettings({ root: "/project", ...options.settings });
  const format = formatFor(path, settings.format);
  if (format.gives !== "text") throw new Error(`${path} is no text`);
  const parsed = await (
    await loadReader(format)
  )(source, path, {
    ...around,
    keepsHidden: settings.keepsHidden,
  });
  const mapped = mapDocument({ path, mtimeMs: 0, facts }, parsed, settings);
  return { ...toPage({ path, source, parsed, settings }, mapped), facts };
}

/** The page of a file with one document. */
export function toPage(
  read: Pick<LintPage, "path" | "source" | "parsed" | "settings">,
  mapped: Mapped,
): LintPage {
  const isDocument = mapped.kind === "document";
  return {
    ...read,
    part: 0,
    document: isDocument ? mapped.document : undefined,
    skipped: isDocument ? undefined : mapped.reason,
  };
}

/** What a rule finds, with the text at the place of each finding. */
export interface Place extends Found {
  at: string | undefined;
}

/** The findings of a rule in a text. */
export async function check(
  rule: PageRule,
  source: string,
  options?: PageOptions,
): Promise<Place[]> {
  const page = await pageOf(source, options);
  return [...rule.check(page)].map((found) => {
    const { span } = found;
    return { ...found, at: span && source.slice(span.start, span.end) };
  });
}

/** The texts at the places of the findings. */
export async function placesOf(
  rule: PageRule,
  source: string,
  options?: PageOptions,
): Promise<(string | undefined)[]> {
  return (await check(rule, source, options)).map(({ at }) => at);
}
