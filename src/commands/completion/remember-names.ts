import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { writeWhole } from "../../config/file/files.ts";
import type { Context } from "../../context.ts";
import {
  isOffered,
  mostNames,
  namesFile,
  namesFolder,
  type Named,
  type NameKind,
} from "./names.ts";

const maxFiles = 100;

function dropOldest(folder: string): void {
  const names = readdirSync(folder);
  if (names.length <= maxFiles) return;
  const dated = names.flatMap((name) => {
    const stats = statSync(join(folder, name), { throwIfNoEntry: false });
    return stats ? [{ name, time: stats.mtimeMs }] : [];
  });
  for (const { name } of dated.toSorted((a, b) => b.time - a.time).slice(maxFiles)) {
    rmSync(join(folder, name), { force: true });
  }
}

/**
 * Caches the names of a listing for completion in a file of mode 0600: at most 2,000
 * names, without names that must not be offered to a shell. Does nothing in CI, where
 * nobody types. Never fails: completion is not worth an error.
 */
export function rememberNames(
  context: Pick<Context, "env" | "now">,
  kind: NameKind,
  { config, connection }: { config: { profile: string }; connection: { baseUrl: string } },
  names: readonly Named[],
): void {
  const { env } = context;
  if (env["CI"]) return;
  const owner = { profile: config.profile, baseUrl: connection.baseUrl };
  const rows = names.filter(({ name }) => isOffered(name)).slice(0, mostNames);
  const kept = {
    version: 1,
    ...owner,
    at: context.now(),
    names: rows.map((row) => [row.id, row.name, row.text]),
  };
  try {
    writeWhole(namesFile(env, kind, owner), `${JSON.stringify(kept)}\n`, { flush: false });
    dropOldest(namesFolder(env));
  } catch {
    // A read-only home or a full disk: then there are no candidates.
  }
}
