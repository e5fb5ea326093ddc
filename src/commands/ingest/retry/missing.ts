import { CliError } from "../../../errors.ts";
import { countOf } from "../../../output/terminal/progress.ts";
import type { VerifiableRecord } from "../../../sync/state/verified.ts";
import { serviceTargets, targetFor } from "../../../sync/state/target.ts";
import { namesPairsByRule } from "../target/recorded-target.ts";
import type { Session } from "../session.ts";
import type { Failed, RetryGroup } from "./retry-groups.ts";

/** Results of verify that an upload mends. A hidden document is there: it is never sent again. */
const mendable: ReadonlySet<string> = new Set(["missing", "listed-only", "stale"]);

/** The documents to send again. */
export interface MissingDocuments {
  failed: Failed;
  documents: readonly VerifiableRecord[];
}

/**
 * The documents that verify did not find since their upload, by their options. Throws CliError
 * `usage` when no document was verified.
 */
export function missingInState({ state, targets, source }: Session): MissingDocuments {
  const isByRule = !targets.pair.fromFlag && namesPairsByRule(source.config);
  const target = targetFor(targets, undefined);
  const keys = isByRule || !target ? serviceTargets(state.database, targets.baseUrl) : [target.key];
  const records = keys.flatMap((key) => [...state.verified.list(key)]);
  if (records.every(({ verified }) => verified === undefined)) {
    throw new CliError("usage", "--missing: no uploaded document was verified", {
      hints: ["run `knowctl verify` first: it records what it finds"],
    });
  }
  const documents = records.filter(({ verified }) => mendable.has(verified?.result ?? ""));
  const groups = new Map<number | undefined, RetryGroup>();
  for (const { path, options } of documents) {
    if (path === undefined) continue;
    const group = groups.get(options) ?? { options: state.options.get(options), paths: [] };
    groups.set(options, group);
    if (!group.paths.includes(path)) group.paths.push(path);
  }
  const fromStdin = documents.filter(({ path }) => path === undefined).length;
  return { failed: { groups: [...groups.values()], fromStdin }, documents };
}

/** Makes the plan send documents again that count as unchanged. */
export function markMissing({ state }: Session, documents: readonly VerifiableRecord[]): void {
  state.doubt(documents.map(({ target, id }) => ({ target, id })));
}

/** Error for documents that a retry cannot send. */
export function missingFromStdin(count: number): CliError {
  return new CliError("partial", `${countOf(count, "missing document")} came from stdin`, {
    hints: ["documents from stdin are not stored: send them again with `knowctl ingest -`"],
  });
}
