import type { Coverage, Setting, FlagCases } from "./play.ts";
import { folder } from "./mapping.ts";
import { byName, byPair, many, pair, recordFlags, tellsCommand, two } from "./upload.ts";

const empty = "---\ntitle: Nothing\n---\n";
const twoEmpty: Setting = { files: { "docs/a.md": empty, "docs/b.md": empty } };
const rule = "--rule empty";
const page = (title: string): string => `# ${title}\n\nEverybody has a desk of their own.\n`;
const pages: Setting = { files: { "docs/a.md": page("Rooms"), "docs/b.md": page("Desks") } };
const long = "x".repeat(300);
const shared = { gains: /\(shared-link\)/ };

/** `lint`: flag by flag. */
export const lint: Coverage = {
  lint: {
    "--rule": [
      { ...twoEmpty, args: "docs", flag: "--rule tiny", stdout: { loses: /\(empty\)/ } },
      { ...twoEmpty, args: "docs", flag: "--rule emty", refused: /did you mean "empty"/ },
    ],
    "--notes": { tested: "test/commands/lint/lint.test.ts" },
    "--max-warnings": [
      { ...twoEmpty, args: `docs ${rule}`, flag: "--max-warnings 1", codes: [0, 13] },
      {
        ...twoEmpty,
        args: "docs --baseline b.json --write-baseline",
        flag: "--max-warnings 1",
        refused: /--write-baseline/,
      },
    ],
    "--baseline": {
      ...twoEmpty,
      first: [`lint docs/a.md ${rule} --baseline b.json --write-baseline`],
      args: `docs ${rule}`,
      flag: "--baseline b.json",
      stdout: { loses: /docs\/a\.md/ },
    },
    "--write-baseline": [
      {
        ...twoEmpty,
        first: [`lint docs/a.md ${rule} --baseline b.json --write-baseline`],
        args: `docs ${rule} --baseline b.json`,
        flag: "--write-baseline",
        left: { gains: /"path":"docs\/b\.md"/ },
      },
      { ...twoEmpty, args: "docs", flag: "--write-baseline", refused: /--baseline/ },
    ],
    "--fix": {
      files: { "a.md": "# Rooms\n\nEvery\u200bbody has a desk of their own.\n" },
      args: "a.md --rule invisible-characters",
      flag: "--fix",
      stderr: { gains: /fixed invisible-characters, 1 place/ },
      left: { gains: /Everybody/ },
    },
    "--report": {
      ...twoEmpty,
      args: "docs",
      flag: "--report r.sarif",
      left: { gains: /"2\.1\.0"/ },
    },
    "--gitlab-report": {
      ...twoEmpty,
      args: "docs",
      flag: "--gitlab-report g.json",
      left: { gains: /g\.json: [^]*"fingerprint"/ },
    },
    "--include": {
      ...twoEmpty,
      args: `docs ${rule}`,
      flag: "--include docs/a.md",
      stdout: { loses: /docs\/b\.md/ },
    },
    "--exclude": {
      ...twoEmpty,
      args: `docs ${rule}`,
      flag: "--exclude docs/b.md",
      stdout: { loses: /docs\/b\.md/ },
    },
    "--no-ignore": {
      files: { ...twoEmpty.files, "docs/.gitignore": "b.md\n" },
      args: `docs ${rule}`,
      flag: "--no-ignore",
      stdout: { gains: /docs\/b\.md/ },
    },
    "--drafts": {
      files: folder,
      args: `draft.md ${rule}`,
      flag: "--drafts",
      stderr: { gains: /in 1 document\n/ },
    },
    "--format": [
      {
        files: { "notes.txt": "[x](none.md)\n" },
        args: "notes.txt --rule dead-link",
        flag: "--format markdown",
        stdout: { gains: /dead-link/ },
      },
      { files: folder, args: "docs", flag: "--format markdown", refused: /docs is a folder/ },
    ],
    "--id-prefix": {
      files: { "docs/a.md": "---\nid: kb/docs/b.md\n---\nText.\n", "docs/b.md": "Text.\n" },
      args: "docs --rule duplicate-id",
      flag: "--id-prefix kb/",
      codes: [0, 0],
      stdout: { gains: /duplicate-id/ },
    },
    "--map": {
      files: folder,
      args: `rows.csv ${rule}`,
      flag: "--map title=name,text=notes",
      codes: [10, 0],
    },
    "--max-section-chars": {
      files: { "long.txt": "One sentence of the handbook, and a long one.\n\n".repeat(2000) },
      args: "long.txt --rule huge-section",
      flag: "--max-section-chars 1000",
      stdout: { loses: /huge-section/ },
    },
    "--link": {
      ...pages,
      args: "docs --rule shared-link",
      flag: "--link https://x.example/{dir}",
      stdout: shared,
    },
    "--link-style": [
      {
        files: { "docs/a.md": page("Rooms"), "docs/a/index.md": page("Desks") },
        args: "docs --rule shared-link --link-base https://x.example/",
        flag: "--link-style mkdocs",
        stdout: shared,
      },
      { ...pages, args: "docs", flag: "--link-style hugo", refused: /--link-base https:/ },
    ],
    "--link-base": {
      ...pages,
      args: "docs --rule shared-link --link {dir}",
      flag: "--link-base https://x.example/",
      stdout: shared,
    },
    "--metadata": {
      ...pages,
      args: "docs --rule long-tag",
      flag: `--metadata team=${long}`,
      stdout: { gains: /long-tag/ },
    },
    "--tag": {
      ...pages,
      args: "docs --rule long-tag",
      flag: `--tag ${long}`,
      stdout: { gains: /long-tag/ },
    },
  },
};

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
    "--notify": { ...sent, ...tellsCommand },
    "--report": { ...sent, flag: "--report r.json", left: { gains: /r\.json: [^]*"summary"/ } },
    "--cc-pair-id": { ...byTarget, flag: pair, codes: [2, 0] },
    "--connector": { ...byTarget, flag: byName, codes: [2, 0] },
    ...recordFlags,
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

const docs: Setting = {
  files: {
    "docs/a.md": "# A\n\n## Who pays for lunch?\n\ntext\n",
    "docs/b.md": "# B\n\n## When does the office open?\n\ntext\n",
  },
  args: "docs",
};

/** `eval init`: flag by flag. */
export const evalInit: Coverage = {
  "eval init": {
    "--state": { tested: "test/commands/connect.test.ts" },
    "--from-sessions": [
      {
        ...docs,
        args: [],
        dialect: "onyx",
        first: ["chat hello"],
        flag: "--from-sessions",
        stdout: { gains: /# unanswered/ },
      },
      { ...docs, flag: "--from-sessions", refused: /--from-sessions/ },
    ],
    "--limit": { ...docs, flag: "--limit 1", stdout: { loses: /docs\/b\.md/ } },
    "--out": {
      ...docs,
      flag: "--out suite.yaml",
      stdout: { loses: /question/ },
      left: { gains: /suite\.yaml: # Drafted/ },
    },
  },
};

const suite = (...cases: object[]): string => JSON.stringify({ version: 1, cases });
const leave = { id: "leave", question: "leave", must_retrieve: ["docs/a.md"] };
const other = { id: "other", question: "lunch", must_retrieve: ["docs/b.md"] };
const judge = { judge: { rubric: "names a number", threshold: 0.5 } };
// Nobody listens there: the judge is announced, asked, and fails.
const server = { base_url: "http://127.0.0.1:9/v1", model: "grader" };

const files = {
  "docs/a.md": "# Leave\n\nStaff take leave.\n",
  "docs/b.md": "# Lunch\n\nLunch is at noon. Leave the plates.\n",
  "suite.json": suite(leave, other),
  "failing.json": suite(
    { ...leave, must_retrieve: ["docs/b.md"], k: 1, expect: [{ contains: "no such words" }] },
    other,
  ),
  "drafted.json": suite(leave, { ...other, review: true }),
  "judged.json": JSON.stringify({
    version: 1,
    judge: server,
    cases: [{ ...leave, expect: [judge] }],
  }),
};
const upload = "ingest docs --cc-pair-id 2";
const sentBefore: Setting = { dialect: "onyx", files, first: [upload] };
const retrieval: Setting = { ...sentBefore, args: "suite.json" };
const answers: Setting = { ...sentBefore, args: "suite.json --allow-tokens 2" };

/** The flags that both commands have, by a command line that passes. */
function common(command: string, setting: Setting): FlagCases {
  const line = `eval ${command} ${String(setting.args)}`;
  const failing: Setting = { ...setting, args: String(setting.args).replace("suite", "failing") };
  return {
    "--state": { tested: "test/commands/connect.test.ts" },
    "--concurrency": { tested: "test/commands/eval/retrieval.test.ts" },
    "--drafts": {
      ...setting,
      args: String(setting.args).replace("suite", "drafted"),
      flag: "--drafts",
      stdout: { gains: /provisional/ },
    },
    "--baseline": {
      ...setting,
      first: [upload, `${line} --report before.json`],
      flag: "--baseline before.json",
      stdout: { gains: /before\.json/ },
    },
    "--fail-on": [
      { ...failing, flag: "--fail-on rate<0.1", codes: [13, 0] },
      { ...setting, flag: "--fail-on worse", refused: /--baseline/ },
    ],
    "--notify": { ...setting, ...tellsCommand },
    "--report": { ...setting, flag: "--report now.xml", left: { gains: /now\.xml: <\?xml/ } },
    "--record": { ...setting, flag: "--record taken", left: { gains: /taken\/recording\.json/ } },
    "--replay": {
      ...setting,
      first: [upload, `${line} --record taken`],
      args: "suite.json",
      flag: "--replay taken",
      ...(command === "answers"
        ? { codes: [2, 0] as const }
        : { requests: { loses: /send-search-message/ } }),
    },
  };
}

/** `eval retrieval` and `eval answers`: flag by flag. */
export const evalRun: Coverage = {
  "eval retrieval": {
    ...common("retrieval", retrieval),
    "--k": {
      ...sentBefore,
      args: "failing.json",
      flag: "--k 5",
      codes: [13, 0],
    },
    "--via": { ...retrieval, flag: "--via keyword", requests: { gains: /admin\/search/ } },
    "--allow-tokens": [
      { ...retrieval, args: "suite.json --via chat", flag: "--allow-tokens 2", codes: [2, 0] },
      {
        ...retrieval,
        args: "suite.json --replay taken",
        flag: "--allow-tokens 2",
        refused: /--replay/,
      },
    ],
  },
  "eval answers": {
    ...common("answers", answers),
    "--allow-tokens": { ...answers, args: "suite.json", flag: "--allow-tokens 2", codes: [2, 0] },
    "--judge": [
      {
        ...sentBefore,
        args: "judged.json --allow-tokens 2",
        flag: "--judge",
        stderr: { gains: /judges answers/ },
        codes: [0, 10],
      },
      { ...answers, args: "suite.json", flag: "--judge", refused: /no case has an expectation/ },
    ],
  },
};

const covering: Setting = { ...sentBefore, args: "suite.json docs" };

/** `eval coverage`: flag by flag. */
export const evalCoverage: Coverage = {
  "eval coverage": {
    "--state": { tested: "test/commands/connect.test.ts" },
    "--drafts": {
      ...sentBefore,
      args: "drafted.json docs",
      flag: "--drafts",
      stdout: { loses: /drafted: check the case/ },
    },
    "--sessions": {
      ...sentBefore,
      first: [upload, "chat zebra"],
      args: "suite.json docs",
      flag: "--sessions",
      stdout: { gains: /session question \d+ +zebra/ },
    },
    "--via": { ...covering, flag: "--via keyword", requests: { gains: /admin\/search/ } },
    "--allow-tokens": [
      { ...covering, args: "suite.json docs --via chat", flag: "--allow-tokens 2", codes: [2, 0] },
      {
        ...covering,
        args: "suite.json docs --replay taken",
        flag: "--allow-tokens 2",
        refused: /--replay/,
      },
    ],
    "--report": { ...covering, flag: "--report now.xml", left: { gains: /now\.xml: <\?xml/ } },
    "--replay": {
      ...covering,
      first: [upload, "eval retrieval suite.json --record taken"],
      flag: "--replay taken",
      requests: { loses: /send-search-message/ },
    },
  },
};

/** `doctor`: flag by flag. */
export const doctor: Coverage = {
  doctor: {
    "--bundle": { flag: "--bundle ticket.txt", left: { gains: /ticket\.txt: / } },
    "--stream-test": {
      flag: "--stream-test",
      requests: { gains: /send-chat-message[^]*"message"/ },
    },
  },
};
