import type { Coverage, Setting } from "./case.ts";
import { broken, byName, many, pair, sending } from "./ingest-sending.ts";
import { folder, shaping, type Shows } from "./mapping.ts";

// What fails first is mended before the retry: then there is something to send again.
const mended: Setting = {
  files: { ...folder, "docs/a.md": "---\nupdated: never\n---\n# A\n" },
  first: [`ingest docs ${pair}`],
  edits: { "docs/a.md": folder["docs/a.md"] as string },
};
const retry: Shows = { in: "requests", args: () => pair, before: mended };
const { "--map": _map, "--format": _format, "--drafts": _drafts, ...retried } = shaping(retry);
const long = { ...mended, edits: { "docs/a.md": folder["docs/b.md"] as string } };
const rows: Setting = { files: folder, first: [`ingest rows.csv ${pair}`], args: pair };
const failedRetry = { files: broken, first: [`ingest docs ${pair}`], edits: many, args: pair };

/** `ingest retry`: flag by flag. */
export const retryCases: Coverage = {
  "ingest retry": {
    ...retried,
    ...sending(pair, { files: broken, first: [`ingest docs ${pair}`], edits: many }),
    "--include": {
      ...failedRetry,
      flag: "--include docs/1.md",
      requests: { loses: /docs\/2\.md/ },
    },
    "--exclude": {
      ...failedRetry,
      flag: "--exclude docs/2.md",
      requests: { loses: /docs\/2\.md/ },
    },
    "--no-ignore": {
      ...failedRetry,
      flag: "--no-ignore",
      harmless: "each file that failed is named: no ignore file leaves it out",
    },
    "--max-section-chars": {
      ...long,
      args: pair,
      flag: "--max-section-chars 300",
      requests: { gains: /"text":"A sent[^]*"text":"A sent/ },
    },
    "--map": {
      ...rows,
      flag: "--map title=name,text=notes",
      codes: [10, 0],
      requests: { gains: /"title":"Pen"/ },
    },
    "--format": { ...failedRetry, flag: "--format markdown", refused: /for files that are named/ },
    "--drafts": {
      ...failedRetry,
      edits: { ...many, "docs/1.md": "---\ndraft: true\n---\n# Draft\n\nDraft body\n" },
      flag: "--drafts",
      requests: { gains: /Draft body/ },
    },
    "--images": {
      ...mended,
      args: pair,
      flag: "--images upload",
      dialect: "onyx",
      requests: { gains: /image_file_id/ },
    },
    "--cc-pair-id": { ...failedRetry, args: "", flag: pair, stderr: { gains: /8 files failed/ } },
    "--connector": { ...failedRetry, args: "", flag: byName, stderr: { gains: /8 files failed/ } },
    "--state": {
      files: broken,
      first: [`ingest docs ${pair} --state other`],
      edits: many,
      args: pair,
      flag: "--state other",
      codes: [9, 0],
    },
    "--max-failures": {
      ...failedRetry,
      edits: { "docs/1.md": "# Good\n\ntext\n" },
      flag: "--max-failures 1",
      codes: [10, 10],
      requests: { loses: /docs\/1\.md/ },
    },
  },
};
