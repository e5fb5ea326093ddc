import { readdirSync } from "node:fs";
import { siteOf, type SiteSettings } from "../site/sites.ts";
import { comparableName } from "./parts.ts";

/** Finds files by name, as Obsidian does where a link names no folder. */
export interface NotesByName {
  /**
   * The root-relative path of the file whose path ends with `target`, or with `target` and `.md`, in
   * the vault of the page `from`: at this path of the vault, else nearest to the page, else with the
   * shortest path. Undefined without one, and where isTooMany().
   */
  find(target: string, from: string): string | undefined;
  /** Whether the project has so many files that none is found by its name. */
  isTooMany(): boolean;
}

/** Root-relative paths by comparableName(). */
export type FilesByName = ReadonlyMap<string, string[]>;

// More files are no vault that a person keeps, and their names would need much memory. A part of them
// would be another one on each machine.
export const mostNotes = 100_000;

// A disk may hold names in another normal form than texts do.
const comparable = (path: string): string => path.normalize("NFC").toLowerCase();

/** Lists the files below `root` by comparableName(), without hidden ones; undefined for too many. A folder that cannot be read has none. */
function listFiles(root: string, most: number): FilesByName | undefined {
  const files = new Map<string, string[]>();
  let count = 0;
  const open = [""];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    let entries;
    try {
      entries = readdirSync(`${root}/${folder}`, { withFileTypes: true });
    } catch {
      continue;
    }
    for (const entry of entries) {
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
      const path = folder + entry.name;
      if (entry.isDirectory()) open.push(`${path}/`);
      else {
        if (++count > most) return undefined;
        const name = comparableName(entry.name);
        const same = files.get(name);
        if (same) same.push(path);
        else files.set(name, [path]);
      }
    }
  }
  return files;
}

function vaultOf(from: string, settings: SiteSettings): string {
  const site = siteOf(from, settings);
  return site?.generator === "obsidian" ? comparable(site.prefix) : "";
}

const filesOfRun = new WeakMap<SiteSettings, { files: FilesByName | undefined }>();

/** The files of the project; undefined for more than `most`. Lists the folders below the root once in a run. */
export function filesOf(settings: SiteSettings, most = mostNotes): FilesByName | undefined {
  let listed = filesOfRun.get(settings);
  if (!listed) {
    filesOfRun.set(settings, (listed = { files: listFiles(settings.root, most) }));
  }
  return listed.files;
}

/** Creates a NotesByName. */
export function createNotesByName(settings: SiteSettings, most = mostNotes): NotesByName {
  const known = new Map<string, string | undefined>();
  const list = (): FilesByName | undefined => filesOf(settings, most);
  const choose = (target: string, vault: string, folder: string): string | undefined => {
    const end = `/${target}`;
    // help.obsidian.md, "Internal links": the shortest path. Beside or below the page goes first.
    const rank = (path: string): number => {
      const own = comparable(path);
      if (own === vault + target) return 0;
      return (own.startsWith(folder) ? 1 : 10_000) + own.length;
    };
    const [first] = (list()?.get(comparableName(target)) ?? [])
      .filter((path) => comparable(path).startsWith(vault) && comparable(`/${path}`).endsWith(end))
      .toSorted((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1));
    return first;
  };
  return {
    isTooMany: () => list() === undefined,
    find(target, from) {
      const vault = vaultOf(from, settings);
      const wanted = comparable(target.replace(/^\/+/, ""));
      const folder = comparable(from.slice(0, from.lastIndexOf("/") + 1));
      const key = `${vault}\n${folder}\n${wanted}`;
      if (known.has(key)) return known.get(key);
      const found = choose(wanted, vault, folder) ?? choose(`${wanted}.md`, vault, folder);
      if (known.size < most) known.set(key, found);
      return found;
    },
  };
}

// One run has one object of settings.
const notesOfRun = new WeakMap<SiteSettings, NotesByName>();

/** The files by name of a run. */
export function notesOf(settings: SiteSettings): NotesByName {
  let notes = notesOfRun.get(settings);
  if (!notes) notesOfRun.set(settings, (notes = createNotesByName(settings)));
  return notes;
}
