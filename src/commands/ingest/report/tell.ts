import { nearest } from "../../../nearest.ts";
import { knownMembers } from "../../../documents/payload/json-document.ts";
import { type LeftOutKind, isUnseen } from "../../../documents/text/left-out.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { countOf, formatCount, type UploadCounts } from "../../../output/terminal/progress.ts";
import type { CountedNotice, NoticeCounts } from "../../../sync/plan/notice-counts.ts";
import type { PlanTable } from "../../../sync/plan/plan-table.ts";
import { shownText } from "../../../output/paths.ts";
import type { Session } from "../session.ts";
import type { DocumentSource } from "../options/settings.ts";
import { ownTargets } from "../target/pair.ts";
import { tombstoneMark } from "../../../sync/state/records.ts";
import { defaultId } from "../../../documents/map/effective.ts";
import { createRealPlaces, exists } from "../../../documents/files/real-place.ts";
import type { Plan } from "../../../sync/plan/plan.ts";
import type { Target } from "../../../sync/state/target.ts";
import { dialects } from "../../../api/dialects.ts";
import type { Context } from "../../../context.ts";
import type { IngestOptions } from "../ingest-options.ts";
import { givenFlags, selectionFlags, shapingFlags } from "../options/mapping-flags.ts";
import { fitsFile } from "../options/project-file.ts";

/** With `--since`: reports how many files changed, were renamed or deleted. */
export async function printSince(
  output: Output,
  { since }: DocumentSource,
  isDryRun = false,
): Promise<void> {
  if (!since) return;
  const { ref, changedCount, renamed, deleted } = since;
  const parts = [
    `${countOf(changedCount, "file")} changed` +
      (renamed.size > 0 ? ` (${formatCount(renamed.size)} renamed)` : ""),
    ...(deleted.size > 0 ? [`${formatCount(deleted.size)} deleted`] : []),
  ];
  await output.note(`since ${ref}: ${parts.join(", ")}`);
  if (renamed.size + deleted.size === 0 || isDryRun) return;
  await output.note(
    "the run removes no document of a deleted or renamed file; --dry-run lists them",
  );
}

/** Warns of each --exclude that left out nothing of a walk that has ended: it may be misspelt. */
export async function warnOfUnusedExcludes(
  output: Output,
  { settings, raw, since }: Pick<DocumentSource, "settings" | "raw" | "since">,
): Promise<void> {
  const given = new Set(raw.flags?.exclude);
  // With --since only the changed files were looked at.
  if (given.size === 0 || since) return;
  for (const pattern of settings.exclude?.unused() ?? []) {
    if (!given.delete(pattern)) continue;
    await output.warn(
      neutraliseLine(
        `--exclude ${pattern} leaves nothing out: it matches no file, or only some that are left out anyway`,
      ),
    );
  }
}

/** Reports documents that changed, or have new ids, although their files may be unchanged. */
export async function printReasons(output: Output, table: PlanTable): Promise<void> {
  for (const { kind, difference, count } of table.reasons()) {
    if (kind === "changed") {
      await output.note(`${formatCount(count)} changed: ${difference}`);
      continue;
    }
    const [cause, wayBack] =
      kind === "own id"
        ? ["the id in its file changed", "change the id back"]
        : [difference, "repeat the options of that upload"];
    await output.warn(
      `${countOf(count, "document")} will be sent under another id (${cause}), and the documents under the recorded ids stay in the service; ` +
        `${wayBack}, or list them with \`knowctl status\` and the paths and options of this command`,
    );
  }
}

/** Prints the warnings of the files that were read, and the number of skipped images. */
export async function printWarnings(
  { output, source }: Pick<Session, "output" | "source">,
  { shown, count }: ReturnType<PlanTable["warnings"]>,
  images: number,
): Promise<void> {
  for (const { path, message } of shown) {
    await output.warn(shownText(path, message, source.shown));
  }
  if (count > shown.length) await output.warn(`… and ${formatCount(count - shown.length)} more`);
  if (images > 0) await output.note(`${countOf(images, "image")} in the text skipped`);
}

function unknownText(name: string): string {
  const suggestion = nearest(name, knownMembers(name))?.replace(/^request\./, "");
  const hint = suggestion === undefined ? "" : `; did you mean ${suggestion}?`;
  return `the service does not know this member${hint}`;
}

/**
 * What the documents have and what it means, by kind. The notices of kind `access` share one
 * line: accessText(); those of kind `leftOut` count something else: leftOutText().
 */
const meanings: Record<
  Exclude<
    CountedNotice["kind"],
    "access" | "leftOut" | "undefined" | "sameLink" | "deadLink" | "site"
  >,
  (name: string) => [string, string]
> = {
  dropped: (name) => [name, "the service drops this member"],
  unknown: (name) => [name, unknownText(name)],
  link: (reason) => ["no link", reason],
};

/** What a page shows and its document lacks, by kind: one and many. */
const leftOutNames: Record<Exclude<LeftOutKind, "undefined">, [string, string]> = {
  include: ["included file", "included files"],
  shortcode: ["shortcode", "shortcodes"],
  directive: ["directive", "directives"],
  expression: ["expression", "expressions"],
  attribute: ["text in attributes", "texts in attributes"],
  output: ["output without text", "outputs without text"],
  macro: ["macro of an extension", "macros of extensions"],
  embedded: ["embedded file, picture or chart", "embedded files, pictures and charts"],
  comment: ["comment", "comments"],
  hidden: ["hidden element", "hidden elements"],
  script: ["script or style", "scripts and styles"],
};

function leftOutText({ name, count, example = "" }: CountedNotice, first: string): string {
  const [one, many] = leftOutNames[name as keyof typeof leftOutNames];
  const what = count === 1 ? `1 ${one} is` : `${formatCount(count)} ${many} are`;
  const place = `(first: ${`${first} ${example}`.trim()})`;
  // What nobody sees on the page: no reader misses it.
  if (isUnseen(name as LeftOutKind)) {
    return `${what} not sent ${place}; ingest.hidden: keep sends hidden elements, and comments of Markdown`;
  }
  const advice = name === "attribute" ? "; ingest.componentAttributes lists those to keep" : "";
  return `${what} left out of the documents ${place}${advice}`;
}

function noticeText(
  notice: CountedNotice & { kind: Exclude<CountedNotice["kind"], "access" | "undefined"> },
  first: string,
  shown: (path: string) => string,
): string {
  const { kind, name, count, second = "", example = "" } = notice;
  if (kind === "leftOut") return leftOutText(notice, first);
  if (kind === "deadLink") {
    const [leads, stays] = count === 1 ? ["leads", "stays"] : ["lead", "stay"];
    return `${countOf(count, "link")} ${leads} to no file and ${stays} as written (first: ${first}:${example})`;
  }
  if (kind === "site") {
    return `${countOf(count, "document")} of a site ${name}`;
  }
  const has = count === 1 ? "has" : "have";
  if (kind === "sameLink") {
    return `${countOf(count, "document")} ${has} the link of another document (first: ${first} and ${shown(second)}: ${name})`;
  }
  const [what, meaning] = meanings[kind](name);
  return `${countOf(count, "document")} ${has} ${what} (first: ${first}): ${meaning}`;
}

function accessText(notices: readonly CountedNotice[], first: string): string {
  const count = notices.reduce((sum, each) => sum + each.count, 0);
  const names = notices.map(({ name }) => name).join(", ");
  const say = count === 1 ? "says" : "say";
  return `${countOf(count, "document")} ${say} who may read (${names}; first: ${first}): this is only metadata and restricts nobody; the pair decides who can read`;
}

/** The references to attributes that nothing defines, and the most frequent one. */
function undefinedText(
  notices: readonly CountedNotice[],
  firstOf: (notice: CountedNotice) => string,
): string {
  const count = notices.reduce((sum, each) => sum + each.count, 0);
  const most = notices.reduce((one, other) => (other.count > one.count ? other : one));
  const what = count === 1 ? "1 reference" : `${formatCount(count)} references`;
  const stay = count === 1 ? "to an undefined attribute stays" : "to undefined attributes stay";
  const first = `${firstOf(most)} ${most.example ?? ""}`.trim();
  return `${what} ${stay} as written (most often {${most.name}}: ${formatCount(most.count)}, first: ${first}); ingest.attributes defines them`;
}

/** Reports members without effect: one line for each member, with the number of documents. */
export async function printNotices(
  { output, source }: Pick<Session, "output" | "source">,
  notices: NoticeCounts,
): Promise<void> {
  const firstOf = ({ path, first }: CountedNotice): string => shownText(path, first, source.shown);
  const all = notices.list();
  const access = all.filter(({ kind }) => kind === "access");
  if (access[0]) await output.warn(neutraliseLine(accessText(access, firstOf(access[0]))));
  const missing = all.filter(({ kind }) => kind === "undefined");
  if (missing.length > 0) await output.warn(neutraliseLine(undefinedText(missing, firstOf)));
  for (const each of all) {
    const { kind } = each;
    if (kind === "access" || kind === "undefined") continue;
    const text = neutraliseLine(noticeText({ ...each, kind }, firstOf(each), source.shown));
    const isNote = kind === "leftOut" && isUnseen(each.name as LeftOutKind);
    await (isNote ? output.note(text) : output.warn(text));
  }
}

/** Reports sent files that are now drafts or empty. Finds only documents with path-derived ids. */
async function printOptedOut(
  { output, source, state }: Pick<Session, "output" | "source" | "state">,
  table: PlanTable,
  targets: readonly Target[],
): Promise<void> {
  let count = 0;
  for (const { path, part, content } of table.entries(["skipped"])) {
    if (part > 0 || content === undefined) continue;
    const id = defaultId(path, source.settings);
    const isSent = ({ key }: Target): boolean => {
      const sent = state.accepted(key, id);
      return sent?.path === path && sent.whole !== tombstoneMark;
    };
    if (targets.some(isSent)) count++;
  }
  if (count === 0) return;
  const [verb, documents] = count === 1 ? ["opts", "document is"] : ["opt", "documents are"];
  await output.note(
    `${countOf(count, "uploaded file")} ${verb} out now: the ${documents} still in the service; see \`knowctl status\``,
  );
}

/**
 * Reports how many sent files are gone or excluded. An upload removes no documents, so the
 * service still finds them.
 */
export async function printUnfound(
  session: Pick<Session, "output" | "source" | "state" | "targets">,
  { table }: Plan,
): Promise<void> {
  const { output, source, state } = session;
  if (source.since) return;
  const targets = ownTargets(state, session.targets, source.settings);
  // A document that another file yields now is not left behind.
  const isThere = state.database.prepare(
    `SELECT 1 AS yes FROM files f JOIN accepted a ON a.target = ? AND a.id = f.id
      WHERE f.path = ? AND a.path = f.path AND a.whole <> '${tombstoneMark}'
        AND NOT EXISTS (SELECT 1 FROM temp.plan p WHERE p.id = a.id) LIMIT 1`,
  );
  const placeOf = createRealPlaces(source.settings.root);
  let [excluded, gone] = [0, 0];
  for (const { path, isExcluded } of table.unfound()) {
    if (!targets.some(({ key }) => isThere.get(key, path))) continue;
    if (isExcluded || exists(placeOf(path))) excluded++;
    else gone++;
  }
  await printOptedOut(session, table, targets);
  if (excluded + gone === 0) return;
  const parts = [
    ...(excluded > 0 ? [`${formatCount(excluded)} excluded`] : []),
    ...(gone > 0 ? [`${formatCount(gone)} gone`] : []),
  ];
  const verb = excluded + gone === 1 ? "is" : "are";
  await output.note(
    `${countOf(excluded + gone, "uploaded file")} ${verb} no longer found (${parts.join(", ")}): the documents are still in the service; see \`knowctl status\``,
  );
}

/** Whether a project file would repeat this upload. */
function isWorthSaving(options: IngestOptions): boolean {
  const { state, shard, since, flagSources } = options;
  if (state === false || shard || since !== undefined || !fitsFile(options)) return false;
  const isTargetGiven = (["ccPairId", "connector"] as const).some(
    (name) => options[name] !== undefined && flagSources?.[name] !== "env",
  );
  return isTargetGiven || givenFlags(options, [...shapingFlags, ...selectionFlags]).length > 0;
}

/**
 * After an upload that sent documents: the commands that help now. `firstOptions` are the options
 * of a first upload to this target. Prints nothing in CI, where nobody runs the next command.
 */
export async function printNext(
  context: Context,
  { output, source }: Pick<Session, "output" | "source">,
  { created, updated, verified }: UploadCounts,
  firstOptions?: IngestOptions,
): Promise<void> {
  if (created + updated === 0 || context.trialFiles || context.env["CI"]) return;
  if (firstOptions && context.stderr.isTTY && isWorthSaving(firstOptions)) {
    return await output.note(
      "next: the same command with --print-config prints a project file for plain `knowctl ingest`",
    );
  }
  if (verified === undefined && dialects[source.config.dialect].paths.documentSize) {
    await output.note("next: check that the index has the documents with `knowctl verify`");
  }
  await output.note('next: ask about the documents with `knowctl chat "…"`');
}
