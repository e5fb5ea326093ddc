import { readdirSync, realpathSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import type { DocumentSettings } from "../settings.ts";
import { CliError } from "../../../errors.ts";
import { createIgnoreTest } from "../../files/ignore-rules.ts";
import { relativeTo } from "../../files/root.ts";
import { createFields } from "../../front-matter/fields.ts";
import { absoluteOf, normalise, stampOf, trustedStamp } from "../../files/source-file.ts";
import { readFrontMatter } from "../../front-matter/front-matter.ts";
import { addressesOf, type Addresses } from "./addresses.ts";
import type { PageFolder } from "./link-style.ts";
import type { LinkStyle } from "../../site/generators.ts";
import { documentLink } from "./document-link.ts";
import { effectiveFor, defaultId, idKeys } from "../effective.ts";
import { isPacked } from "../../files/file-name.ts";
import { formatOf, formats, withFrontMatter } from "../../formats/formats.ts";

/** The names in a folder, by their lower case. */
type Names = ReadonlyMap<string, string>;

// Bounded: cleared when full.
const mostNames = 20_000;

interface Folders {
  byPath: Map<string, Names>;
  /** Number of names and folders in it. */
  size: number;
}

const foldersOfRun = new WeakMap<DocumentSettings, Folders>();

function readNames(absolutePath: string): Names {
  try {
    const entries = readdirSync(absolutePath, { withFileTypes: true });
    // A symbolic link may lead out of the project, and hidden files are no documents.
    const own = entries.filter((entry) => !entry.isSymbolicLink() && !entry.name.startsWith("."));
    const names = own.map(({ name }) => name).sort();
    return new Map(names.map((name) => [name.toLowerCase(), name]));
  } catch {
    return new Map();
  }
}

function namesIn(settings: DocumentSettings, folder: string): Names {
  let known = foldersOfRun.get(settings);
  let names = known?.byPath.get(folder);
  if (!names) {
    if (!known || known.size >= mostNames) {
      foldersOfRun.set(settings, (known = { byPath: new Map(), size: 0 }));
    }
    known.byPath.set(folder, (names = readNames(join(settings.root, folder))));
    known.size += names.size + 1;
  }
  return names;
}

/** The number of files and folders in a folder, root-relative; 0 without it. */
export const countIn = (folder: string, settings: DocumentSettings): number =>
  namesIn(settings, folder).size;

/** The names in a folder, root-relative, without hidden ones and symbolic links. */
export const allIn = (folder: string, settings: DocumentSettings): string[] => [
  ...namesIn(settings, folder).values(),
];

/** The names in a folder without a dot, root-relative: most are folders. */
export const foldersIn = (folder: string, settings: DocumentSettings): string[] =>
  allIn(folder, settings).filter((name) => !name.includes("."));

/** The file or folder that a path names but for capital letters. Both are root-relative. */
export function inOtherCase(path: string, settings: DocumentSettings): string | undefined {
  let found = "";
  for (const name of path.split("/")) {
    const actual = namesIn(settings, found).get(name.toLowerCase());
    if (actual === undefined) return undefined;
    found = posix.join(found, actual);
  }
  return found === path ? undefined : found;
}

/** What is at a path of the project. */
export interface Target {
  kind: "document" | "file" | "folder" | "none";
  /** As Parts.add() takes it. */
  stamp: string | undefined;
  /** Of a document: its real path, root-relative. */
  path?: string;
  /** The link of the document; undefined if it has none. */
  link(): string | undefined;
}

/** Finds out what links lead to. Reads each file once in a run: links lead to few files. */
export interface Targets {
  /** `path` is root-relative, normalised. */
  at(path: string): Target;
  /** The path that differs from `path` in capital letters only; undefined without one. */
  inOtherCase(path: string): string | undefined;
  /** Whether the ignore files leave a path out: what is missing there, a build may make. */
  isIgnored?(path: string): boolean;
  /** The addresses of a site, see addressesOf(). */
  addresses?(style: LinkStyle, site: PageFolder): Addresses | undefined;
}

// Bounded: cleared when full.
const mostKnown = 8000;
function linkOf(
  path: string,
  absolutePath: string,
  settings: DocumentSettings,
): string | undefined {
  const format = formatOf(path, settings.format);
  // jekyllrb.com, "Pages": HTML has front matter as well.
  const mayHave = (withFrontMatter.includes(format) || format === formats.html) && !isPacked(path);
  const frontMatter = mayHave ? readFrontMatter(absolutePath, path).frontMatter : undefined;
  const fields = createFields(frontMatter, path);
  try {
    const ownId = fields.takeText(idKeys(path, settings));
    const id = ownId ? normalise(ownId.value) : defaultId(path, settings);
    const effective = effectiveFor(path, settings);
    const result = documentLink({ path, fields, settings, effective, id })?.result;
    return result && "link" in result ? result.link : undefined;
  } catch (error) {
    // A bad value: the document of that file fails.
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

const nothing = { stamp: "", link: () => undefined } as const;

function look(path: string, settings: DocumentSettings): Target {
  const { root } = settings;
  try {
    const absolutePath = absoluteOf(root, path);
    const stats = statSync(absolutePath, { bigint: true, throwIfNoEntry: false });
    if (!stats) return { ...nothing, kind: "none" };
    const stamp = trustedStamp(stampOf(stats), Date.now()) || undefined;
    const format = formatOf(path, settings.format);
    if (stats.isDirectory()) return { ...nothing, kind: "folder", stamp };
    const isDocument = stats.isFile() && format !== undefined && format.gives !== "rows";
    if (!isDocument) return { ...nothing, kind: "file", stamp };
    const real = realpathSync.native(absolutePath);
    const realPath = relativeTo(root, real);
    if (realPath === undefined) return { ...nothing, kind: "file", stamp };
    const ownPath = normalise(realPath);
    let made: { link: string | undefined } | undefined;
    const link = (): string | undefined =>
      (made ??= { link: linkOf(ownPath, real, settings) }).link;
    return { kind: "document", stamp, path: ownPath, link };
  } catch {
    // Not readable, or a link in a loop.
    return { ...nothing, kind: "file" };
  }
}

const targetsOfRun = new WeakMap<DocumentSettings, Targets>();

/** The targets of a run: one object of settings has one list. */
export function targetsFor(settings: DocumentSettings): Targets {
  let targets = targetsOfRun.get(settings);
  if (!targets) {
    const known = new Map<string, Target>();
    let isIgnored: ((path: string) => boolean) | undefined;
    targets = {
      at(path) {
        let target = known.get(path);
        if (!target) {
          if (known.size >= mostKnown) known.clear();
          known.set(path, (target = look(path, settings)));
        }
        return target;
      },
      inOtherCase: (path) => inOtherCase(path, settings),
      isIgnored: (path) => (isIgnored ??= createIgnoreTest(settings.root))(path),
      addresses: (style, site) => addressesOf(style, site, settings.root, settings),
    };
    targetsOfRun.set(settings, targets);
  }
  return targets;
}
