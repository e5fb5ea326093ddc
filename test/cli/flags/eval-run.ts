import type { Coverage, FlagCases, Setting } from "./case.ts";

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
  "judged.json": JSON.stringify({
    version: 1,
    judge: server,
    cases: [{ ...leave, expect: [judge] }],
  }),
};
const upload = "ingest docs --cc-pair-id 2";
const sent: Setting = { dialect: "onyx", files, first: [upload] };
const retrieval: Setting = { ...sent, args: "suite.json" };
const answers: Setting = { ...sent, args: "suite.json --allow-tokens 2" };

/** The flags that both commands have, by a command line that passes. */
function common(command: string, setting: Setting): FlagCases {
  const line = `eval ${command} ${String(setting.args)}`;
  const failing: Setting = { ...setting, args: String(setting.args).replace("suite", "failing") };
  return {
    "--state": { tested: "test/commands/files-in-state.test.ts" },
    "--concurrency": { tested: "test/commands/eval/concurrency.test.ts" },
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
      ...sent,
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
        ...sent,
        args: "judged.json --allow-tokens 2",
        flag: "--judge",
        stderr: { gains: /judges answers/ },
        codes: [0, 10],
      },
      { ...answers, args: "suite.json", flag: "--judge", refused: /no case has an expectation/ },
    ],
  },
};
