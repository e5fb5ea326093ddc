import { CliError } from "../../errors.ts";
import type { SourceFile } from "../files/source-file.ts";
import type { DocumentSettings } from "../map/settings/settings.ts";
import { decodeFile } from "../files/bytes/decode.ts";
import { readBytes } from "./read.ts";
import { formatOf } from "../formats/formats.ts";

/** The text of a file, and the hash of its bytes. */
export interface SourceText {
  text: string;
  content: string;
}

/**
 * Reads the text of a file with one document again, as its reader sees it. Undefined for rows, for
 * binary formats, and for a file that can no longer be read.
 */
export function readSourceText(
  file: Pick<SourceFile, "path" | "absolutePath">,
  settings: DocumentSettings,
): SourceText | undefined {
  const { path } = file;
  if (formatOf(path, settings.format)?.gives !== "text") return undefined;
  try {
    const unknown = { sizeBytes: 0, stamp: "", mtimeMs: 0 };
    const { bytes, content } = readBytes({ ...file, ...unknown }, settings);
    return { text: decodeFile(bytes, path, settings.maxFileBytes), content };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return undefined;
  }
}
