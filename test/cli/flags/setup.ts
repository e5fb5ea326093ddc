import type { Coverage, Setting } from "./play.ts";
import { sharedFlags } from "./upload.ts";

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
const shared = { tested: "test/commands/state/shared.test.ts" };

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
  "state share": { ...sharedFlags, "--yes": shared, "--state": shared },
  "state unshare": { "--yes": shared, "--state": shared },
  "state push": { ...sharedFlags, "--all": shared, "--state": shared },
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

const run = "ingest docs --cc-pair-id 2 --report r.json";

/** `report …`: flag by flag. */
export const report: Coverage = {
  "report summary": {},
  "report merge": {
    "--report": {
      files: { "docs/a.md": "# A\n\ntext\n" },
      first: [run],
      args: "r.json",
      flag: "--report m.xml",
      stdout: { loses: /"counts"/ },
      left: { gains: /m\.xml: <\?xml/ },
    },
    "--shared": { tested: "test/commands/ingest/claim.test.ts" },
    "--shared-state": { tested: "test/commands/ingest/claim.test.ts" },
    "--state-project": { tested: "test/commands/ingest/claim.test.ts" },
  },
};

const twoProfiles = { profiles: { a: { baseUrl: "http://127.0.0.1:9" }, b: {} } };
const project: Setting = { files: { ".cliconfig.json": JSON.stringify(twoProfiles) } };
const other: Setting = { files: { "other.json": "{}" } };
const both = "--local --config other.json";
const init = "--profile new --base-url {service}";
const key = "CANARY-key-4b1f0c9e";

/** `config …`, `login` and `logout`: flag by flag. */
export const config: Coverage = {
  "config init": {
    "--with-token": {
      args: init,
      env: { KNOWCTL_API_KEY: "" },
      stdin: key,
      flag: "--with-token",
      codes: [3, 0],
    },
    "--no-check": { args: init, flag: "--no-check", requests: { loses: /GET/ } },
    "--id-prefix": {
      args: init,
      flag: "--id-prefix handbook/",
      left: { gains: /\.cliconfig\.json: .*[^]*"idPrefix": "handbook\/"/ },
    },
    "--config": {
      args: init,
      ...other,
      flag: "--config other.json",
      refused: /saved in the user file/,
    },
  },
  "config show": {
    "--origin": { flag: "--origin", stdout: { gains: /KNOWCTL_BASE_URL/ } },
  },
  "config set": {
    "--local": [
      {
        args: "ingest.source web",
        flag: "--local",
        left: { gains: /\.cliconfig\.json: .*[^]*web/ },
      },
      { args: "ingest.source web", ...other, flag: both, refused: /--local and --config/ },
    ],
  },
  "config unset": {
    "--local": [
      {
        ...project,
        args: "profiles.a.baseUrl",
        flag: "--local",
        codes: [9, 0],
        left: { loses: /127/ },
      },
      { ...other, args: "ingest.source", flag: both, refused: /--local and --config/ },
    ],
  },
  "config use": {
    "--local": [
      // Without it, the default of every folder would be a profile of this project.
      {
        ...project,
        args: "b",
        flag: "--local",
        codes: [9, 0],
        left: { gains: /\.cliconfig\.json: .*[^]*defaultProfile/ },
      },
      { ...other, args: "b", flag: both, refused: /--local and --config/ },
    ],
    "--profile": {
      ...project,
      args: "b",
      flag: "--profile a",
      refused: /argument names the profile/,
    },
  },
  login: {
    "--no-check": {
      stdin: key,
      args: "--with-token",
      flag: "--no-check",
      requests: { loses: /GET/ },
    },
    "--with-token": { stdin: key, args: "--no-check", flag: "--with-token", codes: [3, 0] },
    "--kind": {
      stdin: key,
      args: "--with-token --no-check",
      flag: "--kind access-token",
      left: { gains: /"accessToken": "CANARY/ },
    },
  },
};
