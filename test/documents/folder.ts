import type { Found, SourceFile } from "../../src/documents/files/source-file.ts";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { findFiles } from "../../src/documents/find/find.ts";
import { loadGlobs } from "../../src/documents/files/patterns.ts";
import { readDocument, readDocumentSync, type Reading } from "../../src/documents/inspect/read.ts";
import { compileSettings, type RawSettings } from "../../src/documents/map/settings.ts";
import { CliError } from "../../src/errors.ts";

// Most tests use some pattern.
await loadGlobs();

/** A folder of the given files, removed after the test; its real path. */
export function createFolder(files: Record<string, string | Uint8Array> = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "knowctl-documents-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

export type Options = Omit<RawSettings, "root">;

export function find(root: string, inputs: string[] = ["."], options: Options = {}): Found[] {
  return [...findFiles(inputs, { cwd: root, settings: compileSettings({ root, ...options }) })];
}

/** Paths of the files found, and a line for everything else. */
export function list(root: string, inputs?: string[], options?: Options): string[] {
  return find(root, inputs, options).map((found) =>
    found.kind === "file" ? found.file.path : `${found.kind} ${found.path}: ${found.reason}`,
  );
}

export function fileIn(root: string, path: string): SourceFile {
  const found = find(root, [path])[0];
  if (found?.kind !== "file") throw new Error(`no file ${path}: ${JSON.stringify(found)}`);
  return found.file;
}

/** Reads one file of a fresh folder. */
export function read(
  content: string | Uint8Array,
  options: Options = {},
  path = "page.md",
): Reading {
  const root = createFolder({ [path]: content });
  return readDocumentSync(fileIn(root, path), compileSettings({ root, ...options }));
}

export function readOk(
  content: string | Uint8Array,
  options: Options = {},
  path = "page.md",
): Reading & { kind: "document" } {
  const reading = read(content, options, path);
  if (reading.kind !== "document") throw new Error(`skipped: ${reading.reason}`);
  return reading;
}

/** As readOk(), for formats whose reader is loaded on demand. */
export async function readOkAsync(
  content: string | Uint8Array,
  options: Options = {},
  path = "page.md",
): Promise<Reading & { kind: "document" }> {
  const root = createFolder({ [path]: content });
  const reading = await readDocument(fileIn(root, path), compileSettings({ root, ...options }));
  if (reading.kind !== "document") throw new Error(`skipped: ${reading.reason}`);
  return reading;
}

/** Message of the CliError `usage` that a call throws. */
export function failure(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof CliError && error.exit === "usage") return error.message;
    throw error;
  }
  throw new Error("expected a failure");
}

/** Reads one file of a fresh folder with other files. */
export async function readFolder(
  files: Record<string, string | Uint8Array>,
  path: string,
  options: Options = {},
): Promise<Reading & { kind: "document" }> {
  const root = createFolder(files);
  const reading = await readDocument(fileIn(root, path), compileSettings({ root, ...options }));
  if (reading.kind !== "document") throw new Error(`skipped: ${reading.reason}`);
  return reading;
}
