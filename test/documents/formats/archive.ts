import { constants, crc32, deflateRawSync } from "node:zlib";

export interface Part {
  content: string | Uint8Array;
  /** What the headers say instead of the truth. */
  method?: number;
  flags?: number;
  statedBytes?: number;
  checksum?: number;
  /** `content` is packed already. */
  isPacked?: boolean;
}

type Parts = Record<string, string | Uint8Array | Part>;

const headerOf = (part: Part, packed: Uint8Array, content: Uint8Array): Buffer => {
  const header = Buffer.alloc(22);
  header.writeUInt16LE(20, 0);
  header.writeUInt16LE(part.flags ?? 0, 2);
  header.writeUInt16LE(part.method ?? 8, 4);
  header.writeUInt32LE(part.checksum ?? crc32(content), 10);
  header.writeUInt32LE(packed.length, 14);
  header.writeUInt32LE(part.statedBytes ?? content.length, 18);
  return header;
};

/** A ZIP archive. */
export function zip(parts: Parts): Uint8Array {
  const chunks: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, given] of Object.entries(parts)) {
    const part = typeof given === "object" && "content" in given ? given : { content: given };
    const content = Buffer.from(part.content as Uint8Array);
    const isStored = part.isPacked === true || part.method === 0;
    const packed = isStored ? content : deflateRawSync(content);
    const header = headerOf(part, packed, content);
    const length = Buffer.alloc(4);
    length.writeUInt16LE(Buffer.byteLength(name), 0);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), header, length, Buffer.from(name)]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(
      Buffer.concat([Buffer.from("PK\x01\x02\x14\0"), header, length, rest, Buffer.from(name)]),
    );
    chunks.push(local, packed);
    offset += local.length + packed.length;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...chunks, entries, end]);
}

const blanks = deflateRawSync(Buffer.alloc(1024 * 1024, " "), {
  finishFlush: constants.Z_FULL_FLUSH,
});
/** A part that unpacks to more than the limit of a document. It is never packed as a whole. */
export const bomb: Part = {
  content: Buffer.concat(Array<Buffer>(65).fill(blanks)),
  isPacked: true,
};

const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
/** Relations by their ids: the kind, a space, and the target; one without a part leads outside. */
const relations = (targets: Record<string, string>): string =>
  `<Relationships>${Object.entries(targets)
    .map(([id, text]) => {
      const [kind, target] = text.includes(" ") ? text.split(" ") : [id, text];
      const mode = target?.includes("://") ? ' TargetMode="External"' : "";
      return `<Relationship Id="${id}" Type="${office}/${kind}" Target="${target}"${mode}/>`;
    })
    .join("")}</Relationships>`;

/** A Word document with the given body; `parts` add or replace others. */
export function docx(body: string, parts: Parts = {}): Uint8Array {
  return zip({
    "_rels/.rels": relations({
      officeDocument: "word/document.xml",
      "core-properties": "docProps/core.xml",
    }),
    "word/_rels/document.xml.rels": relations({
      styles: "styles.xml",
      footnotes: "footnotes.xml",
      endnotes: "/word/endnotes.xml",
    }),
    "word/document.xml": `<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="urn:w"><w:body>${body}</w:body></w:document>`,
    ...parts,
  });
}

/** A slide: its shapes, its relations by id (`kind target`), and attributes of its root. */
export interface SlideParts {
  shapes: string;
  relations?: Record<string, string>;
  attributes?: string;
}

const slideXml = ({ shapes, attributes = "" }: SlideParts): string =>
  `<p:sld xmlns:p="urn:p" xmlns:a="urn:a" xmlns:r="urn:r" ${attributes}><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`;

/** A presentation; its file names of slides are in the opposite order. */
export function pptx(slides: readonly (string | SlideParts)[], parts: Parts = {}): Uint8Array {
  const all = slides.map((slide) => (typeof slide === "string" ? { shapes: slide } : slide));
  const nameOf = (at: number): string => `slides/slide${all.length - at}.xml`;
  const ids = all.map((_, at) => `<p:sldId id="${256 + at}" r:id="r${at}"/>`).join("");
  const files = all.flatMap((slide, at) => [
    [`ppt/${nameOf(at)}`, slideXml(slide)] as const,
    [
      `ppt/slides/_rels/slide${all.length - at}.xml.rels`,
      relations({ layout: "slideLayout ../slideLayouts/slideLayout1.xml", ...slide.relations }),
    ] as const,
  ]);
  return zip({
    "_rels/.rels": relations({
      officeDocument: "ppt/presentation.xml",
      "core-properties": "docProps/core.xml",
    }),
    "ppt/presentation.xml": `<p:presentation xmlns:p="urn:p" xmlns:r="urn:r"><p:sldIdLst>${ids}</p:sldIdLst></p:presentation>`,
    "ppt/_rels/presentation.xml.rels": relations(
      Object.fromEntries(all.map((_, at) => [`r${at}`, `slide ${nameOf(at)}`])),
    ),
    "ppt/slideLayouts/_rels/slideLayout1.xml.rels": relations({
      slideMaster: "/ppt/slideMasters/slideMaster1.xml",
    }),
    ...Object.fromEntries(files),
    ...parts,
  });
}

/** A sheet: its rows, what stands after them, and its relations by id (`kind target`). */
export interface SheetParts {
  rows: string;
  /** Before the rows. */
  columns?: string;
  after?: string;
  relations?: Record<string, string>;
  attributes?: string;
  name?: string;
}

/** A workbook. */
export function xlsx(sheets: readonly (string | SheetParts)[], parts: Parts = {}): Uint8Array {
  const all = sheets.map((sheet): SheetParts =>
    typeof sheet === "string" ? { rows: sheet } : sheet,
  );
  const tabs = all.map(
    ({ name, attributes = "" }, at) =>
      `<sheet name="${name ?? `Sheet${at + 1}`}" sheetId="${at + 1}" r:id="r${at}" ${attributes}/>`,
  );
  const files = all.flatMap(({ rows, columns = "", after = "", relations: own = {} }, at) => [
    [
      `xl/worksheets/sheet${at}.xml`,
      `<worksheet xmlns:r="urn:r">${columns}<sheetData>${rows}</sheetData>${after}</worksheet>`,
    ] as const,
    [`xl/worksheets/_rels/sheet${at}.xml.rels`, relations(own)] as const,
  ]);
  return zip({
    "_rels/.rels": relations({
      officeDocument: "xl/workbook.xml",
      "core-properties": "docProps/core.xml",
    }),
    "xl/workbook.xml": `<workbook xmlns:r="urn:r"><sheets>${tabs.join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relations({
      ...Object.fromEntries(all.map((_, at) => [`r${at}`, `worksheet worksheets/sheet${at}.xml`])),
      styles: "styles.xml",
      sharedStrings: "sharedStrings.xml",
    }),
    ...Object.fromEntries(files),
    ...parts,
  });
}
