import { describe, expect, it } from "vitest";
import { helpTexts } from "../../src/cli/program.ts";
import { writeFiles } from "../service.ts";
import { preparePlace, runExample, runSandbox, type Place } from "./shell.ts";

// Each command that the help texts show is run as it is written, in a folder that has what they
// name. The sandbox of the test stands for every address in them. What pages show:
// test/docs/blocks.test.ts.

const help = Object.entries(helpTexts());

/** Commands in the help of a command and its subcommands, with the newlines in them. A group repeats those below. */
function helpExamples(command: string): string[] {
  const texts = help.filter(([path]) => path.split(" ")[0] === command);
  const own = texts.filter(([, text]) => !text.includes("[options] [command]\n"));
  return own.flatMap(([, text]) =>
    [...text.matchAll(/^ {2}\$ ((?:.*\\\n)*.+)$/gm)].map(([, line]) => line!),
  );
}

const isSandbox = (line: string): boolean => line.startsWith("knowctl sandbox");
/** What the examples of `state` work on: an upload, and what two shards exported. */
async function prepareState(place: Place): Promise<void> {
  const script = `knowctl ingest docs --cc-pair-id 2
    knowctl state export state-1.ndjson
    knowctl state export state-2.ndjson`;
  expect(await runExample(script, place)).toMatchObject({ code: 0 });
}

/** What the examples of `sessions` look at; the last one is deleted before the end. */
async function askTwice(place: Place): Promise<void> {
  const script = `knowctl chat --show none "How do I request leave?"
    knowctl chat --show none "And travel?"`;
  expect(await runExample(script, place)).toMatchObject({ code: 0 });
}

const suite = `version: 1
cases:
  - id: leave
    question: How many days of leave do I have?
    must_retrieve: [docs/people/holidays.md]
`;

/** What the examples of `eval` work on: a suite, a report to compare with, and recorded answers. */
async function prepareEval(place: Place): Promise<void> {
  writeFiles(place.folder, { "suite.yaml": suite });
  const script = `knowctl ingest docs --cc-pair-id 2
    knowctl chat --show none "How many days of leave do I have?"
    knowctl eval retrieval suite.yaml --report before.json
    knowctl eval answers suite.yaml --allow-tokens 1 --record recorded`;
  expect(await runExample(script, place)).toMatchObject({ code: 0 });
}

/** The reports of a pipeline whose steps all passed. */
async function writeReports(place: Place): Promise<void> {
  await runExample("knowctl lint docs --report lint.json", place);
  await runExample("knowctl ingest docs --cc-pair-id 2 --report upload.json", place);
  await place.sandbox.idle();
  await runExample("knowctl verify --report verify.json", place);
}

// The shell that is needed is not there on Windows.
describe.runIf(process.platform !== "win32")("examples work as they are written:", () => {
  it.each([
    ["connectors", ["connectors"], 10],
    ["ingest and chat", ["ingest", "chat"], 12],
    ["retry, prune, explain and convert", ["retry", "prune", "explain", "convert"], 9],
    ["config", ["config"], 15],
    ["report", ["report"], 5],
    ["lint", ["lint"], 3],
    ["eval", ["eval"], 5],
    ["state", ["state"], 10],
    ["sessions", ["sessions"], 11],
    ["files", ["files"], 5],
    ["completion", ["completion"], 4],
    ["tools and agents", ["tools", "agents"], 5],
    ["api", ["api"], 7],
    ["search, verify and status", ["search", "verify", "status"], 10],
  ])("%s", async (_name, commands, least) => {
    const isOnyx = [
      "sessions",
      "agents",
      "api",
      "connectors",
      "ingest",
      "report",
      "retry",
      "verify",
      "eval",
    ].some((each) => commands.includes(each));
    const place = await preparePlace(isOnyx ? "onyx" : "standard");
    if (commands.includes("state")) await prepareState(place);
    if (commands.includes("report")) await writeReports(place);
    if (commands.includes("eval")) await prepareEval(place);
    if (commands.includes("sessions")) await askTwice(place);
    if (commands.includes("verify") || commands.includes("retry"))
      await runExample("knowctl ingest docs --cc-pair-id 2 --report shard-1.json", place);
    await place.sandbox.idle();
    // There is no terminal to ask on: tests of these commands answer. A reader needs a profile, and a
    // shared record a database: test/commands/state/shared.test.ts. A watch does not end.
    const isRun = (line: string): boolean =>
      !/prune --extra|--reader |eval answers suite.yaml$| --watch$|--shared|state (?:share|unshare|push)\b/.test(
        line,
      );
    const answered = (line: string): string =>
      line.replace(/^knowctl state (?:import|move) .*$/, "$& --yes");
    const lines = commands.flatMap(helpExamples).filter(isRun);
    expect(lines.length).toBeGreaterThanOrEqual(least);
    for (const line of lines) {
      // What verify found is what --missing sends again.
      if (line.endsWith("--missing")) await runExample("knowctl verify", place);
      const isDifferent = line.includes("--exit-code");
      if (isDifferent) writeFiles(place.folder, { "docs/welcome.md": "# Welcome\n\nNew.\n" });
      const { code, stderr } = await runExample(answered(line), place);
      // The examples of connectors send one folder to two pairs, and the second upload says so.
      const known = commands.includes("connectors")
        ? "(?!: by the state, pair 2 also holds 6 documents)"
        : "(?!: the sandbox was asked)";
      const complaint = isDifferent ? /warning/ : new RegExp(`error|warning${known}`);
      expect({ code, stderr }, line).toEqual({
        code: isDifferent ? 12 : 0,
        stderr: expect.not.stringMatching(complaint),
      });
    }
  });

  it("login, which asks when there is a terminal, and logout", async () => {
    const place = await preparePlace();
    const [ask, ...lines] = [...helpExamples("login"), ...helpExamples("logout")];
    expect(await runExample(ask!, place)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("no terminal to ask on"),
    });
    expect(lines).toHaveLength(2);
    for (const line of lines)
      expect(await runExample(line, place), line).toMatchObject({ code: 0 });
  });

  it("sandbox", async () => {
    const place = await preparePlace();
    for (const line of helpExamples("sandbox")) {
      if (isSandbox(line)) expect(await runSandbox(line, place), line).toBe(143);
      else expect(await runExample(line, place), line).toMatchObject({ code: 0 });
    }
  });

  it("at the top of --help", async () => {
    const place = await preparePlace();
    const lines = helpExamples("").filter((line) => !isSandbox(line));
    expect(lines.length).toBeGreaterThan(3);
    const { code, stderr } = await runExample(lines.join("\n"), place);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.not.stringMatching(/error|warning/),
    });
  });
});
