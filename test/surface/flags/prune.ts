import type { Case, Coverage, Setting } from "./case.ts";
import { byName, byPair, many, pair, two } from "./ingest-sending.ts";
import { shapingFlags } from "./mapping.ts";

/** For orphans only the ids count: a script may give the same flags as to the upload. */
const idle = "shapes documents, not ids; a script gives the same flags to both commands";
const sent: Setting = { files: two, first: [`ingest docs ${pair}`] };
const gone: Setting = { ...sent, edits: { "docs/b.md": undefined } };
const removal = `docs ${pair}`;
const removes = "--tombstone --yes --max-delete 100%";
/** One file is gone, and another opts out. */
const optedOut: Setting = {
  ...gone,
  edits: { "docs/a.md": "---\ndraft: true\n---\n# A\n\ntext a\n", "docs/b.md": undefined },
};
/** Two of three files are gone: without a limit of its own one may be removed. */
const twoGone: Setting = {
  files: { ...two, "docs/c.md": "# C\n\ntext c\n" },
  first: [`ingest docs ${pair}`],
  edits: { "docs/a.md": undefined, "docs/b.md": undefined },
};
/** The service has a document without a file and without a record. */
const unrecorded: Setting = {
  dialect: "onyx",
  files: two,
  first: [`ingest docs ${pair} --state other`],
  edits: { "docs/b.md": undefined },
};
const byTarget: Setting = {
  files: two,
  first: byPair,
  edits: { "docs/b.md": undefined },
  args: "docs",
};
const listed = (flag: string): Case => ({
  ...gone,
  args: removal,
  flag,
  refused: /needs --tombstone/,
});
const orphans = (flag: string): Case => ({ ...sent, args: `docs ${pair}`, flag, harmless: idle });

/** `ingest orphans`: flag by flag. */
export const orphanCases: Coverage = {
  "ingest orphans": {
    ...Object.fromEntries(shapingFlags.map((flag) => [flag.split(" ")[0], orphans(flag)])),
    "--include": {
      ...gone,
      args: removal,
      flag: "--include docs/a.md",
      stdout: { loses: /docs\/b\.md/ },
    },
    "--exclude": {
      ...sent,
      args: removal,
      flag: "--exclude docs/b.md",
      stdout: { gains: /docs\/b\.md\texcluded/ },
    },
    "--no-ignore": {
      files: { ...two, "docs/c.md": "# C\n\ntext c\n" },
      first: [`ingest docs ${pair}`],
      edits: { "docs/.gitignore": "c.md\n" },
      args: removal,
      flag: "--no-ignore",
      stdout: { loses: /docs\/c\.md\texcluded/ },
    },
    "--id-prefix": {
      ...sent,
      args: removal,
      flag: "--id-prefix kb/",
      stdout: { gains: /docs\/a\.md/ },
    },
    "--map": {
      files: { "r.csv": "sku,name,notes\n1,Pen,blue\n" },
      first: [`ingest r.csv ${pair} --map id=sku,title=name,text=notes`],
      args: `r.csv ${pair}`,
      flag: "--map id=name,title=name,text=notes",
      codes: [10, 0],
    },
    "--format": { ...sent, args: removal, flag: "--format markdown", refused: /docs is a folder/ },
    "--drafts": {
      files: { ...two, "docs/c.md": "---\ndraft: true\n---\n# C\n\ntext c\n" },
      first: [`ingest docs ${pair} --drafts`],
      args: removal,
      flag: "--drafts",
      stdout: { loses: /docs\/c\.md/ },
    },
    "--drop-access": {
      files: { "docs/a.md": "---\nexternal_access: [a@b.example]\n---\n# A\n" },
      first: [`ingest docs ${pair} --drop-access`],
      args: removal,
      flag: "--drop-access",
      harmless: idle,
    },
    "--cc-pair-id": {
      ...byTarget,
      flag: pair,
      codes: [2, 0],
      stdout: { gains: /docs\/b\.md/ },
    },
    "--connector": {
      ...byTarget,
      flag: byName,
      codes: [2, 0],
      stdout: { gains: /docs\/b\.md/ },
    },
    "--state": {
      files: two,
      first: [`ingest docs ${pair} --state other`],
      edits: { "docs/b.md": undefined },
      args: removal,
      flag: "--state other",
      stdout: { gains: /docs\/b\.md/ },
    },
    "--require-access": [
      {
        ...gone,
        args: `${removal} ${removes}`,
        flag: "--require-access private",
        codes: [0, 2],
        requests: { loses: /"document"/ },
      },
      listed("--require-access public"),
    ],
    "--allow-sync": [
      {
        files: two,
        first: ["ingest docs --cc-pair-id 6 --allow-sync --allow-pruned"],
        edits: { "docs/b.md": undefined },
        args: `docs --cc-pair-id 6 --allow-pruned ${removes}`,
        flag: "--allow-sync",
        codes: [2, 0],
      },
      listed("--allow-sync"),
    ],
    "--allow-pruned": [
      {
        files: two,
        first: ["ingest docs --cc-pair-id 3 --allow-pruned"],
        edits: { "docs/b.md": undefined },
        args: `docs --cc-pair-id 3 ${removes}`,
        flag: "--allow-pruned",
        codes: [2, 0],
      },
      listed("--allow-pruned"),
    ],
    "--class": [
      { ...optedOut, args: removal, flag: "--class gone", stdout: { loses: /docs\/a\.md/ } },
      {
        ...optedOut,
        args: `${removal} ${removes}`,
        flag: "--class opted-out",
        requests: { gains: /"id":"docs\/a\.md"/ },
      },
      { ...unrecorded, args: `${pair} --remote`, flag: "--class gone", refused: /one class/ },
    ],
    "--remote": [
      {
        ...unrecorded,
        args: pair,
        flag: "--remote",
        stdout: { gains: /docs\/b\.md\textra/ },
      },
      { ...unrecorded, args: removal, flag: "--remote", refused: /only the whole project/ },
      { ...unrecorded, args: `${pair} --tombstone`, flag: "--remote", refused: /exclude each/ },
    ],
    "--concurrency": {
      ...gone,
      args: removal,
      flag: "--concurrency 1",
      harmless: "nothing is in flight: the limit is kept",
    },
    "--rate": {
      files: many,
      first: [`ingest docs ${pair}`],
      edits: Object.fromEntries(
        Object.keys(many)
          .slice(0, 4)
          .map((name) => [name, undefined]),
      ),
      args: `${removal} ${removes}`,
      flag: "--rate 2",
      waits: { gains: /\d{3}/ },
    },
    "--fields": {
      ...gone,
      args: `${removal} ${removes}`,
      flag: "--fields nosuch",
      codes: [0, 2],
      requests: { loses: /"document"/ },
    },
    "--prune": [
      {
        ...gone,
        dialect: "onyx",
        args: `${removal} --max-delete 100%`,
        flag: "--prune --yes",
        codes: [2, 0],
        requests: { gains: /^DELETE/m },
      },
      { ...gone, args: removal, flag: "--prune --yes", refused: /cannot delete/ },
    ],
    "--tombstone": [
      {
        ...gone,
        args: removal,
        flag: "--tombstone --yes --max-delete 100%",
        requests: { gains: /"document"/ },
      },
      {
        ...gone,
        dialect: "onyx",
        args: `${removal} --prune`,
        flag: "--tombstone",
        refused: /exclude each other/,
      },
    ],
    "--max-delete": [
      { ...twoGone, args: `${removal} --tombstone --yes`, flag: "--max-delete 2", codes: [2, 0] },
      { ...gone, args: removal, flag: "--max-delete 5", refused: /--prune or --tombstone/ },
    ],
    "--dry-run": {
      ...gone,
      args: `${removal} ${removes}`,
      flag: "--dry-run",
      requests: { loses: /"document"/ },
    },
    "--yes": [
      { ...gone, args: `${removal} --tombstone --max-delete 100%`, flag: "--yes", codes: [2, 0] },
      { ...gone, args: removal, flag: "--yes", refused: /only listed/ },
    ],
    "--link-style": orphans("--link-style mkdocs --link-base https://x.example"),
    "--anchors": orphans("--anchors mkdocs --sections headings"),
    "--meta-commit": { ...(orphans("--meta-commit") as Setting), git: true } as Case,
  },
};
