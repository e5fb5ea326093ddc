import type { Context } from "../../../context.ts";
import type {
  FolderWatcher,
  OpenWatcher,
  WatchRequest,
} from "../../../documents/find/watch-folder.ts";
import { checkReportFiles } from "../../../output/report/forms.ts";
import type { IngestOptions } from "../ingest-options.ts";
import { stateFolder, type DocumentSource } from "../options/settings.ts";
import { plannedBaseUrl } from "../session.ts";
import type { WatchMessages } from "./messages.ts";
import { createChanges, lookMs, type Changes } from "./rounds.ts";

const patienceMs = 60_000;

/** The settings that decide what a round sends, and where. */
function settingsKey({ raw, config, inputs }: DocumentSource): string {
  return JSON.stringify([raw, config.ingest, config.lint, plannedBaseUrl(config), inputs]);
}

/** The watcher of a watch, which its rounds open anew. */
export interface Watching {
  readonly changes: Changes;
  /** Whether changes are reported. */
  hasEvents(): boolean;
  /** The folders may be others: the next round opens a new watcher. */
  expire(): void;
  /** Before a round lists the files, so that no change is missed. */
  follow(source: DocumentSource): Promise<void>;
  /** Says once why changes are looked for instead of waited for. */
  tellBlindness(): Promise<void>;
  close(): Promise<void>;
}

/** The absolute paths that the command itself writes. */
function ownPaths(source: DocumentSource, options: IngestOptions, cwd: string): string[] {
  const { reports, gitlab } = checkReportFiles(options, cwd);
  return [...reports, gitlab, stateFolder(source, options)].filter((each) => each !== undefined);
}

/** Opens a watcher, and waits at most a minute for its first look. */
async function openFor(
  source: DocumentSource,
  context: Context,
  options: IngestOptions,
  openWatcher: OpenWatcher,
  listeners: Pick<WatchRequest, "onChange" | "onBlind">,
): Promise<FolderWatcher> {
  const isOpen = new AbortController();
  const watcher = await openWatcher({
    inputs: source.inputs,
    find: source.find,
    configurations: source.config.files.map(({ path }) => path),
    own: ownPaths(source, options, context.cwd),
    ...listeners,
    patience: () => context.sleep(patienceMs, isOpen.signal).catch(() => {}),
  });
  isOpen.abort();
  return watcher;
}

/** Why no changes are reported, each reason said once; undefined while they are. */
function createBlindness(messages: WatchMessages) {
  let reason: string | undefined;
  let told: string | undefined;
  return {
    isBlind: () => reason !== undefined,
    become: (now: string | undefined) => void (reason = now),
    async tell(): Promise<void> {
      if (reason === told) return;
      told = reason;
      if (reason === undefined) return;
      await messages.note(`${reason}: looking for changes every ${lookMs / 1000}s`);
    },
  };
}

/** Creates a Watching without a watcher; the caller closes it. */
export function createWatching(
  context: Context,
  options: IngestOptions,
  openWatcher: OpenWatcher,
  messages: WatchMessages,
): Watching {
  const changes = createChanges(context.elapsed);
  const blindness = createBlindness(messages);
  let open: { watcher: FolderWatcher; key: string } | undefined;
  let isStale = false;
  const close = async (): Promise<void> => {
    await open?.watcher.close();
    open = undefined;
  };
  const onChange = (isRule: boolean): void => {
    isStale ||= isRule;
    changes.add();
  };
  const onBlind = (reason: string): void => {
    blindness.become(reason);
    // The wait for changes ends: from now on the rounds themselves look.
    changes.add();
  };
  const follow = async (source: DocumentSource): Promise<void> => {
    const key = settingsKey(source);
    if (open && open.key !== key) {
      await messages.note("the configuration has changed: it counts from now on");
    }
    if (open?.key === key && !isStale) return;
    await close();
    isStale = false;
    blindness.become(undefined);
    const watcher = await openFor(source, context, options, openWatcher, { onChange, onBlind });
    open = { watcher, key };
  };
  const expire = (): void => void (isStale = true);
  const hasEvents = (): boolean => !blindness.isBlind();
  return { changes, close, follow, expire, hasEvents, tellBlindness: blindness.tell };
}
