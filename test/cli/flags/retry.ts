import type { Case, Coverage, Setting } from "./case.ts";
import { broken, byName, byPair, many, pair, sending, two } from "./ingest-sending.ts";
import { privateKey } from "./mapping.ts";

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
