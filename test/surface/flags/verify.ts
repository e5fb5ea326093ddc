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
    "--explain": {
      ...sent,
      flag: "--explain docs/a.md",
      stdout: { gains: /200 {2}GET \/document\/document-size-info/ },
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
