import type { Coverage, Setting } from "./case.ts";

const sent = "ingest docs --cc-pair-id 2";
const docs = { "docs/a.md": "# A\n\ntext\n", "docs/b.md": "# B\n\ntext\n" };
const broken = { ...docs, "docs/c.md": "---\nupdated: yesterday\n---\n# C\n" };
const one: Setting = { files: docs, first: [sent] };
const failed: Setting = { files: broken, first: [sent] };
const pairs: Setting = {
  files: docs,
  first: ["ingest docs/a.md --cc-pair-id 2", "ingest docs/b.md --cc-pair-id 7"],
};
const elsewhere: Setting = { files: docs, first: ["ingest docs --cc-pair-id 2 --state other"] };
const exported: Setting = {
  files: docs,
  first: [
    sent,
    "state export all.ndjson",
    "state forget --all --yes",
    "ingest docs/a.md --cc-pair-id 7",
  ],
};
const lines = [
  { type: "knowctl-state", version: 4 },
  {
    type: "accepted",
    target: "https://old.example#2",
    id: "a",
    path: "a",
    whole: "w",
    fields: "f",
    sentAt: "2026-01-01T00:00:00Z",
  },
  { type: "end", records: 1 },
];
/** A state with a record of a service at another address. */
export const moved: Setting = {
  files: { "old.ndjson": lines.map((each) => `${JSON.stringify(each)}\n`).join("") },
  first: ["state import old.ndjson --yes", "state import old.ndjson --yes --state other"],
};
const addresses = "https://old.example https://new.example";
const state = "--state other";

/** `state …`: flag by flag. */
export const stateCases: Coverage = {
  "state list": {
    "--status": { ...failed, flag: "--status failed", stdout: { loses: /docs\/a\.md/ } },
    "--limit": { ...one, flag: "--limit 1", stdout: { loses: /docs\/b\.md/ } },
    "--cc-pair-id": { ...pairs, flag: "--cc-pair-id 2", stdout: { loses: /docs\/b\.md/ } },
    "--state": { ...elsewhere, flag: state, codes: [9, 0], stdout: { gains: /docs\/a\.md/ } },
  },
  "state forget": {
    "--failed": [
      { ...failed, flag: "--failed", codes: [2, 0], stderr: { gains: /forgot 1 failure/ } },
      { ...failed, args: "--all", flag: "--failed", refused: /--failed and --all/ },
    ],
    "--all": [
      { ...one, args: "--yes", flag: "--all", codes: [2, 0], stderr: { gains: /forgot 2 doc/ } },
      { ...one, args: "docs/a.md", flag: "--all", refused: /exclude each other/ },
    ],
    "--yes": [
      { ...one, args: "--all", flag: "--yes", codes: [2, 0] },
      {
        ...one,
        args: "docs/a.md",
        flag: "--yes",
        harmless: "nothing is asked, which is what the flag says; scripts give it to every removal",
      },
    ],
    "--cc-pair-id": {
      ...pairs,
      args: "--all --yes",
      flag: "--cc-pair-id 2",
      stderr: { gains: /forgot 1 doc/ },
    },
    "--state": { ...elsewhere, args: "--all --yes", flag: state, codes: [9, 0] },
  },
  "state export": {
    "--state": { ...elsewhere, flag: state, codes: [9, 0], stdout: { gains: /docs\/a\.md/ } },
  },
  "state import": {
    "--yes": {
      ...exported,
      args: "all.ndjson",
      flag: "--yes",
      codes: [2, 0],
    },
    "--state": {
      ...exported,
      args: "all.ndjson --yes",
      flag: state,
      left: { gains: /other\/state\.db/ },
    },
  },
  "state move": {
    "--yes": { ...moved, args: addresses, flag: "--yes", codes: [2, 0] },
    "--state": {
      ...moved,
      args: `${addresses} --yes`,
      flag: state,
      after: "state list --fields target -o tsv",
      stdout: { gains: /old\.example/ },
    },
  },
};
