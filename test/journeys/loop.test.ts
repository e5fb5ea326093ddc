import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { FaultRule } from "../../src/sandbox/http/faults.ts";
import { main } from "../main.ts";
import { startTestService, writeFiles, type TestService } from "../service.ts";
import { createTestContext } from "../support.ts";

// The nightly job of docs/loop.md, with the four kinds of damage that a service or a person does.

const page = (title: string, text: string): string => `# ${title}\n\n${text}\n`;

const files: Readonly<Record<string, string>> = {
  "docs/people/leave.md": page("Annual leave", "Staff take 28 days of annual leave a year."),
  "docs/people/sick-days.md": page("Sick days", "A doctor's note is needed from the fourth day."),
  "docs/people/remote-work.md": page("Remote work", "Work abroad needs a yes of the team lead."),
  "docs/people/training.md": page("Training", "Each person has a training budget of 900 euros."),
  "docs/it/vpn.md": page("VPN", "The tunnel asks for a new code each morning."),
  "docs/it/passwords.md": page("Passwords", "A passphrase has at least five words."),
  "docs/it/laptops.md": page("Laptops", "Laptops are replaced after four years of service."),
  "docs/office/parking.md": page("Parking", "There are 40 places behind the house for cars."),
  "docs/office/lunch.md": page("Lunch", "The canteen serves meals from noon until two."),
  "docs/office/rooms.md": page("Meeting rooms", "The room Birch seats twelve and has a screen."),
  "docs/money/expenses.md": page("Expenses", "Receipts under 75 euros need no approval."),
};

const suite = {
  version: 1,
  cases: [
    {
      id: "leave",
      question: "How many days of annual leave do staff take?",
      must_retrieve: ["docs/people/leave.md"],
      expect: [{ contains: "28 days" }, { cites: "docs/people/leave.md" }],
    },
    {
      id: "receipts",
      question: "Which receipts need approval for expenses?",
      must_retrieve: ["docs/money/expenses.md"],
      expect: [{ contains: "75 euros" }],
    },
    {
      id: "lunch",
      question: "When does the canteen serve meals?",
      must_retrieve: ["docs/office/lunch.md"],
      expect: [{ contains: "noon" }],
    },
  ],
};

// What the service does to documents although it answers their uploads with 200.
const rules: FaultRule[] = [
  { when: { documentId: "docs/it/printers.md", nth: 1 }, do: { index: { keeps: "nothing" } } },
  { when: { documentId: "docs/it/vpn.md", nth: 2 }, do: { index: { private: true } } },
];

const upload = "ingest docs --cc-pair-id 2 --verify";

/** The steps by their reports. */
const steps: readonly (readonly [name: string, line: string])[] = [
  ["lint", "lint docs"],
  ["ingest", upload],
  ["verify", "verify"],
  ["retrieval", "eval retrieval suite.json"],
  ["answers", "eval answers suite.json --allow-tokens 9"],
];

/** Runs a command line of plain words. A wait ends when the sandbox has indexed what it can. */
async function run({ folder: cwd, env, sandbox }: TestService, line: string) {
  const context = createTestContext({ cwd, env });
  const sleep: typeof context.sleep = async (ms, signal) => {
    await sandbox.idle();
    await context.sleep(ms, signal);
  };
  const code = await main(line.split(" "), { ...context, sleep });
  await sandbox.idle();
  return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
}

/**
 * The job: the steps as `&&` runs them, then the summary: `verify failed a.md (stale)`. A good
 * night leaves the baseline.
 */
async function night(service: TestService): Promise<{ code: number; lines: string[] }> {
  const { folder } = service;
  rmSync(join(folder, "reports"), { recursive: true, force: true });
  const hasBaseline = existsSync(join(folder, "kept/answers.json"));
  for (const [name, line] of steps) {
    const compare = name === "answers" && hasBaseline ? " --baseline kept/answers.json" : "";
    const { code } = await run(service, `${line}${compare} --report reports/${name}.json`);
    if (code !== 0) break;
  }
  const names = steps.map(([name]) => `reports/${name}.json`).join(" ");
  const { code, stdout } = await run(service, `report summary ${names} --json`);
  if (code === 0) {
    mkdirSync(join(folder, "kept"), { recursive: true });
    copyFileSync(join(folder, "reports/answers.json"), join(folder, "kept/answers.json"));
  }
  const rows = JSON.parse(stdout) as { step: string; result: string; first: string }[];
  const lines = rows.map(({ step, result, first }) => `${step} ${result} ${first}`.trim());
  return { code, lines };
}

const green = {
  code: 0,
  lines: [
    "lint passed",
    "ingest passed",
    "verify passed",
    "eval retrieval passed",
    "eval answers passed",
  ],
};

function change(service: TestService, path: string, title: string, text: string): void {
  writeFiles(service.folder, { [path]: page(title, text) });
}

/** Uploads a page from another checkout, of which the state here knows nothing. */
async function sendElsewhere(service: TestService, path: string, content: string): Promise<void> {
  const folder = join(service.folder, "..", "elsewhere");
  mkdirSync(join(folder, ".git"), { recursive: true });
  writeFiles(folder, { [path]: content });
  expect(await run({ ...service, folder }, "ingest docs --cc-pair-id 2")).toMatchObject({
    code: 0,
  });
}

it("finds each damage in the step that can see it, and is green again once it is mended", async () => {
  const service = await startTestService({
    dialect: "onyx",
    files: { ...files, "suite.json": JSON.stringify(suite) },
    faults: { rules },
  });
  expect(await night(service)).toEqual(green);

  // The service swallows a new page, and moves a changed one to a private pair of somebody else.
  // The upload finds both, and the steps after it do not run.
  change(service, "docs/it/printers.md", "Printers", "Scan by mail from the printer on floor two.");
  change(service, "docs/it/vpn.md", "VPN", "The tunnel asks for a new code each Monday.");
  const swallowed = await night(service);
  expect(swallowed).toEqual({
    code: 13,
    lines: [
      "lint passed",
      expect.stringMatching(/^ingest failed /),
      "verify not run",
      "retrieval not run",
      "answers not run",
    ],
  });
  expect(swallowed.lines[1]).toContain("docs/it/printers.md (missing)");
  expect(swallowed.lines[1]).toContain("docs/it/vpn.md (hidden)");
  // A hidden page is there: sending it again is a decision of its own.
  const mended = await run(service, "retry --missing");
  expect(mended).toMatchObject({ code: 0, stderr: expect.stringContaining("done: 1 created") });
  const share = "ingest docs/it/vpn.md --force --cc-pair-id 2 --verify";
  expect(await run(service, share)).toMatchObject({ code: 0 });
  expect(await night(service)).toEqual(green);

  // Another checkout overwrites a page with an older version. This job has nothing to send, and
  // only the check of all documents sees it.
  await sendElsewhere(service, "docs/office/rooms.md", page("Meeting rooms", "Birch seats 8."));
  expect(await night(service)).toEqual({
    code: 13,
    lines: [
      "lint passed",
      "ingest passed",
      "verify failed docs/office/rooms.md (stale)",
      "retrieval not run",
      "answers not run",
    ],
  });
  const again = await run(service, "retry --missing");
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("done: 1 updated") });
  expect(await night(service)).toEqual(green);

  // A person takes the fact out of a page. It is sent, indexed and found; the answer became worse.
  change(service, "docs/people/leave.md", "Annual leave", "Staff take annual leave by law.");
  expect(await night(service)).toEqual({
    code: 13,
    lines: [...green.lines.slice(0, 4), "eval answers failed leave: docs/people/leave.md (failed)"],
  });
  const report = readFileSync(join(service.folder, "reports/answers.json"), "utf8");
  expect(JSON.parse(report)).toMatchObject({
    comparison: { worse: [{ id: "leave", before: "passed", now: "failed" }], unchanged: 2 },
  });
  writeFiles(service.folder, { "docs/people/leave.md": files["docs/people/leave.md"] ?? "" });
  expect(await night(service)).toEqual(green);
});
