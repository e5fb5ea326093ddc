import type { Context } from "../../../context.ts";
import type { FolderWatcher, OpenWatcher } from "../../../documents/find/watch-folder.ts";
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
interface Watching {
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

/** Creates a Watching without a watcher; the caller closes it. */
export function createWatching(
  context: Context,
  options: IngestOptions,
  openWatcher: OpenWatcher,
  messages: WatchMessages,
): Watching {
  const changes = createChanges(context.elapsed);
  let open: { watcher: FolderWatcher; key: string } | undefined;
  let blindness: string | undefined;
  let told: string | undefined;
  let isStale = false;
  const close = async (): Promise<void> => {
    await open?.watcher.close();
    open = undefined;
  };
  const openFor = async (source: DocumentSource): Promise<FolderWatcher> => {
    const isOpen = new AbortController();
    const watcher = await openWatcher({
      inputs: source.inputs,
      find: source.find,
      configurations: source.config.files.map(({ path }) => path),
      own: ownPaths(source, options, context.cwd),
      onChange(isRule) {
        isStale ||= isRule;
        changes.add();
      },
      onBlind(reason) {
        blindness = reason;
        // The wait for changes ends: from now on the rounds themselves look.
        changes.add();
      },
      patience: () => context.sleep(patienceMs, isOpen.signal).catch(() => {}),
    });
    isOpen.abort();
    return watcher;
  };
  return {
    changes,
    close,
    hasEvents: () => blindness === undefined,
    expire: () => void (isStale = true),
    async follow(source) {
      const key = settingsKey(source);
      if (open && open.key !== key) {
        await messages.note("the configuration has changed: it counts from now on");
      }
      if (open?.key === key && !isStale) return;
      await close();
      isStale = false;
      blindness = undefined;
      open = { watcher: await openFor(source), key };
    },
    async tellBlindness() {
      if (blindness === told) return;
      told = blindness;
      if (blindness === undefined) return;
      await messages.note(`${blindness}: looking for changes every ${lookMs / 1000}s`);
    },
  };
}
