import { readdirSync } from "node:fs";

/** Finds notes by name, as Obsidian does where a link names no folder. */
export interface NotesByName {
  /**
   * The root-relative path of the note whose path ends with `target`, in the vault of the page
   * `from`: the one nearest to the top. Undefined without one.
   */
  find(target: string, from: string): string | undefined;
}

interface Vaults {
  /** Notes by the last name of their path, in small letters. */
  notes: ReadonlyMap<string, string[]>;
  /** Root-relative folders with an `.obsidian`, each with "/" at its end. */
  folders: readonly string[];
}

// More notes are no vault that a person keeps, and their names would need much memory.
const mostNotes = 100_000;

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1).toLowerCase();
const depthOf = (path: string): number => path.split("/").length;

/** Lists the notes below `root`, without hidden folders. A folder that cannot be read has none. */
function listNotes(root: string): Vaults {
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
      if (entry.name === ".obsidian") folders.push(folder);
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
      if (entry.isDirectory()) open.push(`${path}/`);
      else if (/\.md$/i.test(entry.name) && ++count <= mostNotes) {
        const name = entry.name.toLowerCase();
        const same = notes.get(name);
        if (same) same.push(path);
        else notes.set(name, [path]);
      }
    }
  }
  return { notes, folders };
}

/** Creates a NotesByName. It lists the folders below `root`, absolute and real, once: with the first find(). */
export function createNotesByName(root: string): NotesByName {
  let vaults: Vaults | undefined;
  return {
    find(target, from) {
      vaults ??= listNotes(root);
      const vault = vaults.folders
        .filter((folder) => from.startsWith(folder))
        .reduce((one, other) => (other.length > one.length ? other : one), "");
      const end = `/${target}`.toLowerCase();
      const [first] = (vaults.notes.get(nameOf(target)) ?? [])
        .filter((path) => path.startsWith(vault) && `/${path}`.toLowerCase().endsWith(end))
        .toSorted((one, other) => depthOf(one) - depthOf(other) || (one < other ? -1 : 1));
      return first;
    },
  };
}
