import type { Coverage, Setting } from "./case.ts";
import { byName, byPair, many, pair, two } from "./ingest-sending.ts";

const onyx: Setting = { dialect: "onyx" };
const sent: Setting = { ...onyx, files: two, first: [`ingest docs ${pair}`] };
const manySent: Setting = { ...onyx, files: many, first: [`ingest docs ${pair}`] };
const byTarget: Setting = { ...onyx, files: two, first: byPair };
/** Gone from the service, recorded here. */
const lost: Setting = {
  ...sent,
  first: [`ingest docs ${pair}`, "api DELETE onyx-api/ingestion/docs%252Fa.md"],
};
const withReader: Setting = {
  ...sent,
  config: {
    defaultProfile: "own",
    profiles: { own: {}, intern: { accessToken: { env: "INTERN_KEY" } } },
  },
  env: { INTERN_KEY: "CANARY-key-4b1f0c9e-reader" },
};

/** A document that few words find. */
const rare: Setting = {
  ...onyx,
  files: { "docs/z.md": "# Zebrafinch\n\nThe zebrafinch sings in the key of Z4711X.\n" },
  first: [`ingest docs ${pair}`],
};

/** `verify`: flag by flag. */
export const verify: Coverage = {
  verify: {
    "--sample": { ...manySent, flag: "--sample 3", stderr: { gains: /checking 3 documents/ } },
    "--depth": { ...sent, flag: "--depth exists", stderr: { gains: /2 present/ } },
    "--since-last": {
      ...sent,
      first: [`ingest docs ${pair}`, "verify docs/a.md"],
      flag: "--since-last",
      stderr: { gains: /found current before[^]*\b1 current/ },
    },
    "--reader": { ...withReader, flag: "--reader intern", stderr: { gains: /as the reader/ } },
    "--expect": [
      { ...withReader, args: "--reader intern", flag: "--expect hidden", codes: [0, 13] },
      { ...sent, flag: "--expect hidden", refused: /without --reader/ },
    ],
    "--via": [
      {
        ...rare,
        args: "--depth exists",
        flag: "--via indexed",
        requests: { gains: /send-search-message/, loses: /document-size-info/ },
      },
      { ...sent, flag: "--via assisted", refused: /names no document ids/ },
      { ...withReader, args: "--reader intern", flag: "--via indexed", refused: /--reader/ },
    ],
    "--allow-tokens": [
      {
        ...rare,
        dialect: "standard",
        args: "--depth exists --via chat",
        flag: "--allow-tokens 1",
        codes: [2, 0],
        stderr: { gains: /1 model call, one for each document[^]*1 present/ },
      },
      { ...sent, flag: "--allow-tokens 2", refused: /--via/ },
    ],
    "--explain": {
      ...sent,
      flag: "--explain docs/a.md",
      stdout: { gains: /200 GET \/document\/document-size-info/ },
    },
    "--wait": { ...lost, flag: "--wait 5s", codes: [13, 13], waits: { gains: /\d/ } },
    "--report": { ...sent, flag: "--report r.json", left: { gains: /r\.json: [^]*"summary"/ } },
    "--cc-pair-id": { ...byTarget, flag: pair, codes: [2, 0] },
    "--connector": { ...byTarget, flag: byName, codes: [2, 0] },
    "--state": {
      ...onyx,
      files: two,
      first: [`ingest docs ${pair} --state other`],
      flag: "--state other",
      codes: [2, 0],
    },
    // The sandbox answers a look-up at once: only a latency shows requests in flight together.
    "--concurrency": { tested: "test/commands/verify/verify.test.ts" },
    "--rate": { ...sent, flag: "--rate 2", waits: { gains: /\d{3}/ } },
  },
};
