import { readdirSync } from "node:fs";
import { comparableName } from "./parts.ts";

/** Finds notes by name, as Obsidian does where a link names no folder. */
export interface NotesByName {
  /**
   * The root-relative path of the note whose path ends with `target`, in the vault of the page
   * `from`: the one nearest to the top. Undefined without one, and where isTooMany().
   */
  find(target: string, from: string): string | undefined;
  /** Whether a page is in a vault of Obsidian: a folder with an `.obsidian`. */
  isInVault(path: string): boolean;
  /** Whether the project has so many notes that none is found by its name. */
  isTooMany(): boolean;
}

interface Vaults {
  /** Notes by comparableName(). Undefined for too many. */
  notes?: ReadonlyMap<string, string[]>;
  /** Root-relative folders with an `.obsidian`, each with "/" at its end, as comparable() makes them. */
  folders: readonly string[];
}

// More notes are no vault that a person keeps, and their names would need much memory. A part of them
// would be another one on each machine.
export const mostNotes = 100_000;

// A disk may hold names in another normal form than texts do.
const comparable = (path: string): string => path.normalize("NFC").toLowerCase();
const depthOf = (path: string): number => path.split("/").length;

/** Lists the notes below `root`, without hidden folders. A folder that cannot be read has none. */
function listNotes(root: string, most: number): Vaults {
  const notes = new Map<string, string[]>();
  const folders: string[] = [];
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
      const path = folder + entry.name;
      if (entry.name === ".obsidian") folders.push(comparable(folder));
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
      if (entry.isDirectory()) open.push(`${path}/`);
      else if (/\.md$/i.test(entry.name)) {
        if (++count > most) return { folders };
        const name = comparableName(entry.name);
        const same = notes.get(name);
        if (same) same.push(path);
        else notes.set(name, [path]);
      }
    }
  }
  return { notes, folders };
}

/** Creates a NotesByName. It lists the folders below `root`, absolute and real, once: with the first call. */
export function createNotesByName(root: string, most = mostNotes): NotesByName {
  let vaults: Vaults | undefined;
  const known = new Map<string, string | undefined>();
  const list = (): Vaults => (vaults ??= listNotes(root, most));
  return {
    isInVault: (path) => list().folders.some((folder) => comparable(path).startsWith(folder)),
    isTooMany: () => list().notes === undefined,
    find(target, from) {
      const { folders, notes } = list();
      const page = comparable(from);
      const vault = folders
        .filter((folder) => page.startsWith(folder))
        .reduce((one, other) => (other.length > one.length ? other : one), "");
      const end = `/${comparable(target)}`;
      const key = `${vault}\n${end}`;
      if (known.has(key)) return known.get(key);
      const [first] = (notes?.get(comparableName(target)) ?? [])
        .filter(
          (path) => comparable(path).startsWith(vault) && comparable(`/${path}`).endsWith(end),
        )
        .toSorted((one, other) => depthOf(one) - depthOf(other) || (one < other ? -1 : 1));
      if (known.size < most) known.set(key, first);
      return first;
    },
  };
}
