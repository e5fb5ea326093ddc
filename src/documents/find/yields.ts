import type { Prepared } from "../inspect/inspection.ts";
import { openInspector } from "../inspect/open-inspector.ts";
import { formatOf } from "../read/readers.ts";
import type { RawSettings } from "../map/settings.ts";

/** What a file gives under some settings. */
export interface Yield {
  /** Ids of its documents. */
  ids: ReadonlySet<string>;
  /** Why a row gives no document, by its number; by 0 why the file as a whole gives none. */
  skipped: ReadonlyMap<number, string>;
  /** Why it, or a part of it, cannot be read. */
  failed: string | undefined;
}

/** Tells what files give under some settings; see openYields(). */
export interface Yields {
  of(path: string, absolutePath: string): Promise<Yield>;
  close(): Promise<void>;
}

/**
 * Opens the look at files under other settings than those of the run, as with those that a
 * document was recorded with. Which files the settings select is not asked. `script` is the
 * built worker; the caller closes it.
 */
export async function openYields(
  settings: RawSettings,
  script: string | URL | undefined,
): Promise<Yields> {
  // Only the ids count here: nothing of what is read is sent.
  const allowing: RawSettings = { ...settings, allowSecrets: true, dropAccess: true };
  const pair = { ccPairId: undefined, fromFlag: false };
  const setup = { settings: allowing, pair, dropAccess: true, keys: [] };
  const inspector = await openInspector(setup, script, 0);
  const prepared = async function* (path: string, absolutePath: string): AsyncGenerator<Prepared> {
    const item = { path, absolutePath };
    const format = formatOf(path, settings.format);
    if (!format) {
      yield { kind: "failed", path, part: 0, reason: "format not supported" };
    } else if (format.gives === "rows") {
      yield* inspector.readRows(item);
    } else {
      const looked = await inspector.look([{ ...item, stamp: undefined, content: undefined }]);
      for (const each of looked) if (each.kind !== "same") yield each;
    }
  };
  return {
    async of(path, absolutePath) {
      const ids = new Set<string>();
      const skipped = new Map<number, string>();
      let failed: string | undefined;
      for await (const each of prepared(path, absolutePath)) {
        if (each.kind === "document") ids.add(each.id);
        else if (each.kind === "skipped") skipped.set(each.part, each.reason);
        else failed ??= each.reason;
      }
      return { ids, skipped, failed };
    },
    close: () => inspector.close(),
  };
}
