import type { Coverage } from "./case.ts";
import { byName, many, pair, two } from "./ingest-sending.ts";
import { allowing, choosing, folder, shaping, type Shows } from "./mapping.ts";

const explain: Shows = {
  in: "stdout",
  args: (file) => `${file} --json`,
  failedCode: 2,
  secretCode: 0,
};
const documents: Shows = { in: "stdout", args: (file) => file };

/** `ingest explain` and `ingest documents`: flag by flag. */
export const showingCases: Coverage = {
  explain: {
    ...shaping(explain),
    ...allowing(explain),
    "--include": {
      files: folder,
      args: "docs/a.md --json",
      flag: "--include *.txt",
      stdout: { gains: /does not match --include/ },
    },
    "--exclude": {
      files: folder,
      args: "docs/a.md --json",
      flag: "--exclude docs/**",
      stdout: { gains: /matches exclude/ },
    },
    "--no-ignore": {
      files: folder,
      args: "hidden/h.md --json",
      flag: "--no-ignore",
      stdout: { gains: /"isIncluded": true/ },
    },
    "--cc-pair-id": {
      files: two,
      args: "docs/a.md --json",
      flag: pair,
      stdout: { gains: /"target": 2/ },
    },
    "--connector": {
      files: two,
      args: "docs/a.md --json",
      flag: byName,
      stdout: { gains: /"target": "Handbook/ },
    },
    "--state": {
      files: two,
      first: [`ingest docs ${pair} --state other`],
      args: "docs/a.md --json",
      flag: "--state other",
      stdout: { gains: /accepted by/ },
    },
    "--row": {
      files: { "r.csv": "id,title,text\n1,One,first\n2,Two,second\n" },
      args: "r.csv --json",
      flag: "--row 2",
      stdout: { gains: /second/ },
    },
    "--images": {
      files: folder,
      args: "docs/a.md --json",
      flag: "--images upload",
      stdout: { gains: /"image_file_id"/ },
    },
  },
  convert: {
    ...shaping(documents),
    ...allowing(documents),
    ...choosing(documents),
    "--images": {
      files: folder,
      args: "docs/a.md",
      flag: "--images upload",
      refused: /nothing is sent/,
    },
    "--since": {
      git: true,
      files: two,
      edits: { "docs/a.md": "# A\n\nother\n" },
      args: "docs",
      flag: "--since HEAD",
      stdout: { loses: /docs\/b\.md/ },
    },
    "--shard": {
      files: many,
      args: "docs",
      flag: "--shard 1/2",
      stderr: { gains: /other shards?/ },
    },
    "--allow-empty": {
      files: { "docs/x.bin": "" },
      args: "docs",
      flag: "--allow-empty",
      codes: [2, 0],
    },
    "--cc-pair-id": { files: two, args: "docs", flag: pair, stdout: { gains: /"cc_pair_id":2/ } },
  },
};
