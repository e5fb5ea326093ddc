/** What a file of the model holds. Each content has a number of its own: its marker. */
export interface FileState {
  marker: number;
  /** `id` of the front matter. */
  ownId?: string;
  optOut?: "draft" | "ingest";
  /** The front matter holds a date that is none: the file fails. */
  broken?: boolean;
  /** Rows of a CSV or NDJSON file by key. */
  rows?: Map<string, number>;
}

/** Options of the command line that shape a document. */
export interface Shape {
  prefix?: string;
  tag?: string;
  team?: string;
  headings?: boolean;
  link?: boolean;
  drafts?: boolean;
  /** `--map id=sku`. */
  map?: boolean;
}

/** A document as a file must yield it. */
export interface Expected {
  id: string;
  /** Of the file, relative to the project. */
  path: string;
  title: string;
  marker: number;
  sections: number;
  metadata: Record<string, string | string[]>;
  link: string | undefined;
}

/** The same text for objects with the same members, in whatever order. */
export function memberText(value: object): string {
  const entries = Object.entries(value);
  return JSON.stringify(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

export const isRowFile = (path: string): boolean => /\.(csv|ndjson)$/.test(path);
const isText = (path: string): boolean => path.endsWith(".txt");
const slugOf = (path: string): string => path.replace(/\W/g, "-");

/** Row keys are unique in the project, as the ids that they become. */
const rowId = (path: string, key: string): string => `${slugOf(path)}-${key}`;

function csvLine(path: string, [key, marker]: [string, number]): string {
  return `${rowId(path, key)},sku-${rowId(path, key)},Row ${marker},marker-${marker}\n`;
}

function jsonLine(path: string, [key, marker]: [string, number]): string {
  const id = rowId(path, key);
  const row = { id, sku: `sku-${id}`, title: `Row ${marker}`, text: `marker-${marker}` };
  return `${JSON.stringify(row)}\n`;
}

/** The bytes of a file. A text file has no front matter: it cannot be broken, opted out or named. */
export function contentOf(path: string, file: FileState): string {
  if (file.rows) {
    const rows = [...file.rows];
    if (path.endsWith(".csv")) {
      return `id,sku,title,text\n${rows.map((row) => csvLine(path, row)).join("")}`;
    }
    return rows.map((row) => jsonLine(path, row)).join("");
  }
  const body = `marker-${file.marker} text\n`;
  if (isText(path)) return body;
  const front = [
    ...(file.ownId === undefined ? [] : [`id: ${file.ownId}`]),
    ...(file.optOut === "draft" ? ["draft: true"] : []),
    ...(file.optOut === "ingest" ? ["ingest: false"] : []),
    ...(file.broken ? ["updated: yesterday"] : []),
  ];
  const matter = front.length === 0 ? "" : `---\n${front.join("\n")}\n---\n`;
  return `${matter}# Heading ${file.marker}\n\n${body}\n## Part two\n\nMore.\n`;
}

/** Whether reading the file fails, whatever the options. */
export const isBroken = (path: string, file: FileState): boolean =>
  file.broken === true && !file.rows && !isText(path) && !isOptedOut(path, file, {});

/** Whether the file says that it is not to be sent. */
export function isOptedOut(path: string, file: FileState, shape: Shape): boolean {
  if (file.rows || isText(path) || file.optOut === undefined) return false;
  return file.optOut === "ingest" || !shape.drafts;
}

function metadataOf(shape: Shape, own: Record<string, string> = {}): Expected["metadata"] {
  return {
    ...own,
    ...(shape.team === undefined ? {} : { team: shape.team }),
    ...(shape.tag === undefined ? {} : { tags: [shape.tag] }),
  };
}

const readable = (path: string): string => {
  const name = path.slice(path.lastIndexOf("/") + 1).replace(/\.\w+$/, "");
  return name.charAt(0).toUpperCase() + name.slice(1);
};

/**
 * The documents that a file yields under the options; `fromRoot` is its path
 * below the project root. None for one that is broken or opted out.
 */
export function documentsOf(
  path: string,
  fromRoot: string,
  file: FileState,
  shape: Shape,
): Expected[] {
  const link = shape.link ? `https://h.example/${fromRoot}` : undefined;
  if (file.rows) {
    return [...file.rows].map(([key, marker]) => {
      const [id, sku] = [rowId(path, key), `sku-${rowId(path, key)}`];
      const own: Record<string, string> = shape.map ? { id } : { sku };
      const metadata = metadataOf(shape, own);
      const title = `Row ${marker}`;
      return { id: shape.map ? sku : id, path, title, marker, sections: 1, metadata, link };
    });
  }
  if (isBroken(path, file) || isOptedOut(path, file, shape)) return [];
  const text = isText(path);
  return [
    {
      id: (text ? undefined : file.ownId) ?? (shape.prefix ?? "") + fromRoot,
      path,
      title: text ? readable(path) : `Heading ${file.marker}`,
      marker: file.marker,
      sections: shape.headings && !text ? 2 : 1,
      metadata: metadataOf(shape),
      link,
    },
  ];
}

/** The options as words of a command line. */
export function shapeWords(shape: Shape): string[] {
  return [
    ...(shape.prefix === undefined ? [] : ["--id-prefix", shape.prefix]),
    ...(shape.tag === undefined ? [] : ["--tag", shape.tag]),
    ...(shape.team === undefined ? [] : ["--metadata", `team=${shape.team}`]),
    ...(shape.headings ? ["--sections", "headings"] : []),
    ...(shape.link ? ["--link", "https://h.example/{path}"] : []),
    ...(shape.drafts ? ["--drafts"] : []),
    ...(shape.map ? ["--map", "id=sku"] : []),
  ];
}
