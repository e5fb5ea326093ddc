import type { Case, Coverage, Setting } from "./case.ts";
import { byName, byPair, many, pair, two } from "./ingest-sending.ts";

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
  files: { ...many, "extra/x.md": "# X\n" },
  first: [
    `ingest extra ${pair} --id-prefix kb/ --state other`,
    `ingest docs ${pair} --id-prefix kb/`,
  ],
  edits: { "extra/x.md": undefined },
};
const show = "--tombstone --dry-run --max-delete 100%";
const byTarget: Setting = {
  files: two,
  first: byPair,
  edits: { "docs/b.md": undefined },
  args: `docs ${show}`,
};
const listed = (flag: string): Case => ({
  ...gone,
  args: removal,
  flag,
  refused: /needs --tombstone/,
});

/** `prune`: flag by flag. */
export const orphanCases: Coverage = {
  prune: {
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
      args: `${removal} ${show}`,
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
    "--class": {
      ...optedOut,
      args: `${removal} ${removes}`,
      flag: "--class opted-out",
      requests: { gains: /"id":"docs\/a\.md"/ },
    },
    "--extra": [
      {
        ...unrecorded,
        args: `${pair} --dry-run`,
        flag: "--extra",
        stdout: { gains: /kb\/extra\/x\.md\textra/ },
      },
      { ...unrecorded, args: removal, flag: "--extra", refused: /only the whole project/ },
      { ...unrecorded, args: `${pair} --tombstone`, flag: "--extra", refused: /exclude each/ },
    ],
    "--concurrency": {
      ...gone,
      args: `${removal} ${removes}`,
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
    "--tombstone": {
      ...gone,
      args: `${removal} --yes --max-delete 100%`,
      flag: "--tombstone",
      codes: [2, 0],
      requests: { gains: /"document"/ },
    },
    "--max-delete": {
      ...twoGone,
      args: `${removal} --tombstone --yes`,
      flag: "--max-delete 2",
      codes: [2, 0],
    },
    "--dry-run": {
      ...gone,
      args: `${removal} --tombstone --max-delete 100%`,
      flag: "--dry-run",
      codes: [2, 0],
    },
    "--yes": [
      { ...gone, args: `${removal} --tombstone --max-delete 100%`, flag: "--yes", codes: [2, 0] },
      { ...gone, args: `${removal} ${show}`, flag: "--yes", refused: /exclude each other/ },
    ],
  },
};
