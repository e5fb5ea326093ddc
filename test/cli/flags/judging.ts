import type { Case, Coverage, Setting } from "./play.ts";
import {
  byName,
  byPair,
  many,
  pair,
  tellsCommand,
  two,
  broken,
  recordFlags,
  sending,
  sharedFlags,
} from "./upload.ts";
import { privateKey } from "./mapping.ts";

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
    "--report": [
      {
        ...gone,
        args: `${removal} ${removes}`,
        flag: "--report r.json",
        left: { gains: /r\.json: [^]*"removed":1/ },
      },
      { ...gone, args: `docs ${show}`, flag: "--report r.json", refused: /removes nothing/ },
    ],
    "--notify": [
      { ...gone, args: `${removal} ${removes}`, ...tellsCommand },
      { ...gone, args: `docs ${show}`, flag: "--notify true", refused: /no result to report/ },
    ],
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
    ...sharedFlags,
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

// What fails first is mended before the retry: then there is something to send again.
const failedRetry: Setting = {
  files: broken,
  first: [`ingest docs ${pair}`],
  edits: many,
  args: pair,
};
const failing = "---\nupdated: never\nid: shared\n---\n# A\n";
const severalPairs: Setting = {
  files: { "docs/a.md": failing, "docs/b.md": failing.replace("shared", "other") },
  first: byPair,
  edits: two,
  args: "",
};
const target = (flag: string | readonly string[]): Case => ({
  ...severalPairs,
  flag,
  codes: [2, 0],
  requests: { gains: /"id":"docs\/b\.md"/ },
});

/** `retry`: flag by flag. */
export const retryCases: Coverage = {
  retry: {
    ...sending(
      pair,
      { files: broken, first: [`ingest docs ${pair}`], edits: many },
      /exclude each other/,
    ),
    "--cc-pair-id": [
      target(pair),
      {
        ...failedRetry,
        args: "",
        flag: "--cc-pair-id 7",
        codes: [0, 2],
        stderr: { gains: /failures of pair 2/ },
      },
    ],
    "--connector": target(byName),
    "--allow-secrets": {
      files: { "docs/a.md": `# A\n\n${privateKey}` },
      first: [`ingest docs ${pair}`],
      args: pair,
      flag: "--allow-secrets",
      codes: [10, 0],
      requests: { gains: /"document"/ },
    },
    "--no-lint": {
      files: { "docs/a.md": "# A\n\nShort.\n" },
      config: { lint: { rules: { tiny: "error" } } },
      first: [`ingest docs ${pair}`],
      args: pair,
      flag: "--no-lint",
      codes: [10, 0],
      requests: { gains: /"document"/ },
    },
    "--drop-access": {
      files: { "docs/a.md": "---\nexternal_access: [a@b.example]\n---\n# A\n" },
      first: [`ingest docs ${pair}`],
      args: pair,
      flag: "--drop-access",
      codes: [10, 0],
      requests: { gains: /"document"/ },
    },
    "--require-access": {
      ...failedRetry,
      flag: "--require-access private",
      codes: [0, 2],
      requests: { loses: /"document"/ },
    },
    "--allow-sync": {
      ...failedRetry,
      first: ["ingest docs --cc-pair-id 6 --allow-sync --allow-pruned"],
      args: "--cc-pair-id 6 --allow-pruned",
      flag: "--allow-sync",
      codes: [2, 0],
    },
    "--allow-pruned": {
      ...failedRetry,
      first: ["ingest docs --cc-pair-id 3 --allow-pruned"],
      args: "--cc-pair-id 3",
      flag: "--allow-pruned",
      codes: [2, 0],
    },
    "--overwrite": { tested: "test/commands/ingest/target/owners.test.ts" },
    ...recordFlags,
    "--state": {
      files: broken,
      first: [`ingest docs ${pair} --state other`],
      edits: many,
      args: pair,
      flag: "--state other",
      codes: [9, 0],
    },
    "--missing": [
      { tested: "test/commands/verify/retry-missing.test.ts" },
      { files: two, args: "report.json", flag: "--missing", refused: /has no effect: a report/ },
    ],
    "--max-failures": {
      ...failedRetry,
      edits: { "docs/7.md": "# Good\n\ntext\n" },
      args: `${pair} --concurrency 1`,
      flag: "--max-failures 1",
      codes: [10, 10],
      requests: { loses: /docs\/7\.md/ },
    },
  },
};

const onyx = { dialect: "onyx" } as const;
const sentBefore: Setting = { ...onyx, files: two, first: [`ingest docs ${pair}`] };
/** A file that was never sent. */
const added: Setting = { ...sentBefore, edits: { "docs/new.md": "# New\n\ntext\n" } };
const args = `docs ${pair}`;

/** `status`: flag by flag. */
export const statusCases: Coverage = {
  status: {
    "--report": { ...gone, flag: "--report r.json", left: { gains: /r\.json: [^]*"gone":1/ } },
    "--notify": { ...gone, ...tellsCommand },
    "--remote": {
      ...onyx,
      files: two,
      args,
      flag: "--remote",
      requests: { gains: /GET / },
    },
    "--cc-pair-id": {
      ...onyx,
      files: two,
      first: byPair,
      args: "docs",
      flag: pair,
      codes: [2, 0],
      stdout: { gains: /docs\/a\.md/ },
    },
    "--connector": {
      ...onyx,
      files: two,
      first: byPair,
      args: "docs",
      flag: byName,
      codes: [2, 0],
      stdout: { gains: /docs\/a\.md/ },
    },
    ...recordFlags,
    "--state": {
      ...onyx,
      files: two,
      first: ["ingest docs --cc-pair-id 7 --state other --overwrite"],
      args: `${args} --remote`,
      flag: "--state other",
      stdout: { gains: /elsewhere: 2 documents/ },
    },
    "--exit-code": { ...added, args, flag: "--exit-code", codes: [0, 12] },
  },
};
