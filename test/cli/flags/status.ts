import type { Coverage, Setting } from "./case.ts";
import { byName, byPair, pair, two } from "./ingest-sending.ts";

const onyx = { dialect: "onyx" } as const;
const sent: Setting = { ...onyx, files: two, first: [`ingest docs ${pair}`] };
/** A file that was never sent. */
const added: Setting = { ...sent, edits: { "docs/new.md": "# New\n\ntext\n" } };
const args = `docs ${pair}`;

/** `status`: flag by flag. */
export const statusCases: Coverage = {
  status: {
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
