import { deflateSync } from "node:zlib";

export interface PdfPart {
  /** Entries of the dictionary besides the length. */
  dictionary: string;
  stream?: Uint8Array;
}

/** A PDF of the given objects, the first of which is the catalog; `trailer` adds entries. */
export function pdfOf(parts: readonly PdfPart[], trailer = ""): Uint8Array {
  const chunks: Buffer[] = [Buffer.from("%PDF-1.7\n")];
  const offsets: number[] = [];
  let length = 9;
  const add = (chunk: Buffer): void => {
    chunks.push(chunk);
    length += chunk.length;
  };
  for (const [index, { dictionary, stream }] of parts.entries()) {
    offsets.push(length);
    const size = stream ? `/Length ${stream.length}` : "";
    add(Buffer.from(`${index + 1} 0 obj\n<< ${dictionary} ${size} >>\n`, "latin1"));
    if (stream) add(Buffer.concat([Buffer.from("stream\n"), stream, Buffer.from("\nendstream\n")]));
    add(Buffer.from("endobj\n"));
  }
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`);
  const table = `xref\n0 ${parts.length + 1}\n0000000000 65535 f \n${rows.join("")}`;
  const end = `trailer\n<< /Size ${parts.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${length}\n%%EOF\n`;
  add(Buffer.from(table + end, "latin1"));
  return Uint8Array.from(Buffer.concat(chunks));
}

/** Lines of text from the upper edge down; an empty one leaves room. */
function contentOf(text: string): Buffer {
  const lines = text.split("\n").map((line) => `(${line.replace(/[\\()]/g, "\\$&")}) Tj T*`);
  return Buffer.from(`BT /F1 12 Tf 14 TL 72 720 Td ${lines.join("\n")} ET`, "latin1");
}

export interface PdfOptions {
  /** Entries of the document information. */
  info?: string;
  /** Entries of each page. */
  page?: string;
}

/** A PDF with a page for each text. */
export function pdf(
  pages: readonly string[],
  { info = "", page = "" }: PdfOptions = {},
): Uint8Array {
  const kids = pages.map((_text, index) => `${4 + 2 * index} 0 R`).join(" ");
  const parts: PdfPart[] = [
    { dictionary: "/Type /Catalog /Pages 2 0 R" },
    { dictionary: `/Type /Pages /Count ${pages.length} /Kids [${kids}]` },
    { dictionary: "/Type /Font /Subtype /Type1 /BaseFont /Helvetica" },
  ];
  for (const text of pages) {
    const contents = `/Contents ${parts.length + 2} 0 R`;
    parts.push({
      dictionary: `/Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> ${contents} ${page}`,
    });
    parts.push({ dictionary: "/Filter /FlateDecode", stream: deflateSync(contentOf(text)) });
  }
  parts.push({ dictionary: info });
  return pdfOf(parts, `/Info ${parts.length} 0 R`);
}
