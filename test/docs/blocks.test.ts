import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { preparePlace, runExample, runSandbox, type Place } from "../e2e/shell.ts";
import type { CliResult } from "../ran.ts";
import { writeFiles } from "../service.ts";
import { projectFolder } from "../support.ts";
import { blocksOf, isShell, pages, pipelinePages, readPage, type Block } from "./pages.ts";

// A page is a session: its blocks are run one after the other in one folder, each as by a shell of
// its own that knows what the page has exported so far. A comment before a block says what it is:
//   file: PATH          the block is this file; it is there for the commands that follow
//   exit N              the block's last command ends with N instead of 0
//   not run: REASON     a shell block that cannot run here
//   output              lines that the block before wrote; … stands for anything
//   prints, prints part the JSON that the block before wrote to stdout, or members of it
//   runnable            a block that test/e2e/pipelines.test.ts runs
// `<!-- page: onyx -->` and `<!-- page: no variables -->` at the top choose the sandbox's dialect,
// and a shell that knows neither address nor key.

const mark = /^(?:file: .+|exit \d+|not run: .+|output|prints(?: part)?|runnable.*)?$/;

/** Pages whose runnable blocks another test runs. */
const elsewhere = new Set(pipelinePages);

const isRun = (block: Block): boolean => isShell(block) && !block.mark.startsWith("not run: ");

/** The commands of a block: prompts off, and without the sandbox, for which the test's one stands. */
function commandsOf(block: Block): string[] {
  return block.body
    .split("\n")
    .map((line) => line.replace(/^\$ /, ""))
    .filter((line) => !/^(?:knowctl sandbox .*&|kill %1)/.test(line));
}

/** The addresses that pages name, as that of the sandbox of the test. */
function aimed(text: string, { sandbox }: Place): string {
  return text.replace(/http:\/\/127\.0\.0\.1:8787|https:\/\/assistant\.example\.com/g, sandbox.url);
}

interface Session {
  place: Place;
  /** Lines that later blocks need as well. */
  exported: string[];
  last: Pick<CliResult, "code" | "stdout" | "stderr">;
}

async function run(session: Session, block: Block): Promise<void> {
  const { place, exported } = session;
  const commands = commandsOf(block);
  const sandboxes = commands.filter((line) => / ?knowctl sandbox/.test(line));
  for (const line of sandboxes) expect(await runSandbox(line, place), line).toBe(143);
  if (sandboxes.length > 0) return expect(sandboxes, block.where).toEqual(commands.filter(Boolean));
  session.last = await runExample(aimed([...exported, ...commands].join("\n"), place), place);
  const [, wanted] = /^exit (\d+)$/.exec(block.mark) ?? [];
  const { code, stderr } = session.last;
  expect({ code, stderr }, block.where).toEqual({
    code: Number(wanted ?? 0),
    stderr:
      wanted === undefined
        ? expect.not.stringMatching(/^(?:error|warning):(?! the sandbox was asked)/m)
        : stderr,
  });
  exported.push(...commands.filter((line) => /^(?:export|cd) /.test(line)));
}

/** The pattern of a line in which … stands for anything. */
function patternOf(line: string): string {
  return line
    .trim()
    .split("…")
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("[^\\n]*");
}

function checkOutput({ place, last }: Session, { where, body }: Block): void {
  const said = `${last.stdout}\n${last.stderr}`.replaceAll(
    place.sandbox.url,
    "http://127.0.0.1:8787",
  );
  const lines = body.split("\n").filter((line) => line.trim() !== "");
  for (const line of lines)
    expect(said, where).toMatch(new RegExp(`^[ \\t]*${patternOf(line)}$`, "m"));
}

/** One value, or objects one after the other, each of which begins a line. */
function parseJson(text: string): unknown[] {
  return text
    .trim()
    .split(/\n(?=\{)/)
    .map((each) => JSON.parse(each) as unknown);
}

function checkJson({ last }: Session, { where, body, mark }: Block): void {
  const [found, wanted] = [parseJson(last.stdout), parseJson(body)];
  if (mark === "prints") expect(found, where).toEqual(wanted);
  else expect(found, where).toMatchObject(wanted);
}

async function follow(session: Session, block: Block): Promise<void> {
  const [, path] = /^file: (.+)$/.exec(block.mark) ?? [];
  if (path !== undefined) {
    writeFiles(session.place.folder, { [path]: aimed(block.body, session.place) });
    chmodSync(join(session.place.folder, path), 0o600);
  } else if (isRun(block)) await run(session, block);
  else if (block.mark === "output") checkOutput(session, block);
  else if (block.mark.startsWith("prints")) checkJson(session, block);
}

async function openSession(page: string): Promise<Session> {
  const text = readPage(page);
  const place = await preparePlace(text.includes("<!-- page: onyx -->") ? "onyx" : "standard");
  if (text.includes("<!-- page: no variables -->")) {
    for (const name of ["KNOWCTL_BASE_URL", "KNOWCTL_API_KEY", "KNOWCTL_DIALECT"])
      delete place.env[name];
  }
  return { place, exported: [], last: { code: 0, stdout: "", stderr: "" } };
}

// The shell that is needed is not there on Windows.
describe.runIf(process.platform !== "win32")("every block works as it is written:", () => {
  const run = pages.filter((page) => !elsewhere.has(page) && blocksOf(page).some(isRun));

  it.each(run)("%s", async (page) => {
    const session = await openSession(page);
    for (const block of blocksOf(page)) await follow(session, block);
  });
});

describe.each(pages)("blocks of %s", (page) => {
  const blocks = blocksOf(page);

  it("are all seen, have a language and a known mark", () => {
    const fences = readPage(page).match(/^[ \t>]*`{3,}/gm) ?? [];
    const inner = blocks.flatMap(({ body }) => body.match(/^[ \t>]*`{3,}/gm) ?? []);
    expect(fences.length - inner.length).toBe(2 * blocks.length);
    for (const block of blocks) {
      expect(block.language, block.where).not.toBe("");
      expect(block.mark, block.where).toMatch(mark);
    }
  });

  it("are run, or say why not", () => {
    for (const block of blocks) {
      // One name for shells, so that no block escapes under another.
      expect(block.language, block.where).not.toMatch(/^(?:bash|shell|zsh|fish|cmd|powershell)$/);
      if (!isShell(block)) continue;
      const [, reason] = /^not run: (.+)$/.exec(block.mark) ?? [];
      const named = reason?.match(/\btest\/[\w./-]+/g) ?? [];
      for (const path of named) expect(existsSync(join(projectFolder, path)), path).toBe(true);
      if (reason !== undefined) expect(reason.split(" ").length, block.where).toBeGreaterThan(2);
      else if (elsewhere.has(page)) expect(block.mark, block.where).toMatch(/^runnable/);
    }
  });

  it("of JSON and YAML can be read", () => {
    for (const { language, body, where } of blocks) {
      if (language === "json") expect(() => parseJson(body), where).not.toThrow();
      if (language === "yaml") expect(() => load(body), where).not.toThrow();
    }
  });
});
