import type { Prepared } from "./inspection.ts";
import { openInspector } from "./open-inspector.ts";
import { formatOf } from "../formats/formats.ts";
import type { RawSettings } from "../map/settings/settings.ts";

/** The documents of one file under some settings. */
export interface Yield {
  ids: ReadonlySet<string>;
  /** Why rows are skipped, by row number; number 0 is the whole file. */
  skipped: ReadonlyMap<number, string>;
  /** Why the file, or a part of it, cannot be read. */
  failed: string | undefined;
}

/** Finds the documents of files under some settings; see openYields(). */
export interface Yields {
  of(path: string, absolutePath: string): Promise<Yield>;
  close(): Promise<void>;
}

/**
 * Inspects files under other settings than those of the run, for example the settings that a
 * document was recorded with. Does not check whether the settings select the file. `script` is
 * the built worker. The caller closes the result.
 */
export async function openYields(
  settings: RawSettings,
  script: string | URL | undefined,
): Promise<Yields> {
  // Only the ids matter here: no content is sent.
  const permissive: RawSettings = { ...settings, allowSecrets: true, dropAccess: true };
  const pair = { ccPairId: undefined, fromFlag: false };
  const setup = { settings: permissive, pair, dropAccess: true };
  const inspector = await openInspector(setup, script, 0);
  const prepare = async function* (path: string, absolutePath: string): AsyncGenerator<Prepared> {
    const item = { path, absolutePath };
    const format = formatOf(path, settings.format);
    if (!format) {
      yield { kind: "failed", path, part: 0, reason: "format not supported" };
    } else if (format.gives === "rows") {
      yield* inspector.readRows(item);
    } else {
      const inspected = await inspector.look([{ ...item, stamp: undefined, content: undefined }]);
      for (const each of inspected) if (each.kind !== "same") yield each;
    }
  };
  return {
    async of(path, absolutePath) {
      const ids = new Set<string>();
      const skipped = new Map<number, string>();
      let failed: string | undefined;
      for await (const each of prepare(path, absolutePath)) {
        if (each.kind === "document") ids.add(each.id);
        else if (each.kind === "skipped") skipped.set(each.part, each.reason);
        else failed ??= each.reason;
      }
      return { ids, skipped, failed };
    },
    close: () => inspector.close(),
  };
}
