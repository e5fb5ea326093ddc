import { spawn } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { SignalReceived } from "../../src/context.ts";
import { sampleRun, wholeReport } from "../output/report/sample.ts";
import { startTestService, writeFiles, type TestService } from "../service.ts";
import { main, runHere } from "../main.ts";
import { patienceMs } from "../patience.ts";
import { follow, type CliResult } from "../ran.ts";
import { repositoryOf } from "../repository.ts";
import { createTestContext, projectFolder, temporaryFolder } from "../support.ts";

export interface Place {
  folder: string;
  env: Record<string, string>;
  sandbox: TestService["sandbox"];
}

function filesIn(folder: string, to: string): Record<string, Uint8Array> {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  const paths = entries
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name));
  return Object.fromEntries(
    paths.map((path) => [join(to, relative(folder, path)), readFileSync(path)]),
  );
}

/** A folder as the examples expect it, with `knowctl` on the PATH. */
export async function preparePlace(dialect: "standard" | "onyx" = "standard"): Promise<Place> {
  const { folder, sandbox, env } = await startTestService({ key: "sandbox", dialect });
  const programs = join(temporaryFolder(), "bin");
  mkdirSync(programs);
  symlinkSync(join(projectFolder, "bin", "knowctl.cjs"), join(programs, "knowctl"));
  const handbook = join(projectFolder, "examples", "handbook");
  const committed = {
    ...filesIn(handbook, "examples/handbook"),
    ...filesIn(handbook, "docs"),
    "prices.csv": "sku,name,notes\n1,Lamp,Bright.\n2,Desk,Wide.\n",
    "recordings/answer.ndjson": readFileSync(
      join(projectFolder, "test", "fixtures", "wire", "answer.ndjson"),
    ),
  };
  writeFiles(folder, { ...committed, ...repositoryOf(committed, 2) });
  const shards = [1, 2].map((index) => {
    const report = wholeReport(sampleRun({ shard: { index, count: 2 } }));
    return [`shard-${index}.json`, JSON.stringify(report)] as const;
  });
  writeFiles(folder, { "question.json": '{"message":"Hello","stream":false}' });
  writeFiles(folder, { "key.txt": "sandbox\n", ...Object.fromEntries(shards) });
  return {
    folder,
    sandbox,
    env: {
      ...env,
      PATH: `${programs}:${env["PATH"]}`,
      KNOWCTL_BASE_URL: sandbox.url,
      KNOWCTL_API_KEY: "sandbox",
    },
  };
}

// Words that mean the same to every shell.
const word = String.raw`(?:[\w./:=@,%+*-]|(?<=\w)~|"[^"$\x60\\!]*"|'[^']*')+`;
const redirection = String.raw` (<|>>?) ([\w./-]+)`;
const plainLine = new RegExp(
  `^(?:(?:\\w+=${word} )*knowctl(?! sandbox)(?: +${word})*(?:${redirection})*|cd ${word}|export(?: +\\w+=${word})+)$`,
);
const sandboxLine = new RegExp(`^knowctl sandbox(?: +${word})*$`);
// A command that is whole, and leaves nothing in the shell that the next one needs.
const wholeLine =
  /^(?:\w+=[\w./-]+ )*(?:knowctl(?! sandbox)|printf|echo|cat|gunzip|rm|mv|mkdir) (?:[^'"&<]|<(?!<)| && |'[^']*'|"[^"]*")+$/;

/** The files that a word with a star names; itself where it names none, or where quotes hold the star. */
function expanded(each: string, cwd: string): string[] {
  const [, folder = "", name = ""] = /^((?:[\w./-]+\/)?)([\w.*-]*\*[\w.*-]*)$/.exec(each) ?? [];
  if (name === "") return [each.replace(/"([^"]*)"|'([^']*)'/g, "$1$2")];
  const pattern = new RegExp(`^${name.replaceAll(".", "\\.").replaceAll("*", ".*")}$`);
  const found = readdirSync(join(cwd, folder)).filter((each) => pattern.test(each));
  return found.length > 0 ? found.toSorted().map((each) => folder + each) : [each];
}

function wordsOf(line: string, cwd: string): string[] {
  return (line.match(new RegExp(word, "g")) ?? []).flatMap((each) => expanded(each, cwd));
}

/** The commands of a pipe. */
function stagesOf(line: string): string[] {
  if (line.includes("||") || line.includes("$(")) return [line];
  const stages = (line.match(/(?:'[^']*'|"[^"]*"|[^'"|])+/g) ?? []).map((each) => each.trim());
  return stages.some((each) => plainLine.test(each)) ? stages : [line];
}

/** Of `export` and before a command: `NAME=word`. */
function variablesIn(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    words.map((each) => [each.split("=", 1)[0]!, each.replace(/^\w+=/, "")]),
  );
}

/** Runs knowctl in this process, with variables before it and files in the place of stdin and stdout. */
async function runPlain(
  line: string,
  { cwd, env, stdin }: { cwd: string; env: Record<string, string>; stdin: string | undefined },
): Promise<Pick<CliResult, "code" | "stdout" | "stderr">> {
  const files: Record<string, string> = {};
  const command = line.replace(new RegExp(`(?:${redirection})+$`), (all) => {
    for (const [, sign, path] of all.matchAll(new RegExp(redirection, "g")))
      files[sign!] = join(cwd, path!);
    return "";
  });
  const words = wordsOf(command, cwd);
  const start = words.indexOf("knowctl");
  const { "<": input, ">": output, ">>": more } = files;
  const given = input === undefined ? stdin : readFileSync(input, "utf8");
  const ran = await runHere(words.slice(start + 1), {
    cwd,
    env: { ...env, ...variablesIn(words.slice(0, start)) },
    ...(given !== undefined && { stdin: given }),
  });
  if (output !== undefined) writeFileSync(output, ran.stdout);
  else if (more !== undefined) appendFileSync(more, ran.stdout);
  else return ran;
  return { ...ran, stdout: "" };
}

const addresses = /http:\/\/127\.0\.0\.1:8787|https:\/\/assistant\.example\.com/g;

/**
 * Runs the commands of an example up to the first that fails. A command of plain words runs in this
 * process, another one by a shell, and of a pipe each so; a script with a line that is no whole command, all of it by one.
 */
export async function runExample(
  script: string,
  { folder, env, sandbox }: Pick<Place, "folder" | "env"> & Partial<Pick<Place, "sandbox">>,
): Promise<Pick<CliResult, "code" | "stdout" | "stderr">> {
  const lines = script
    .replace(/\\\n\s*/g, "")
    .split("\n")
    .map((line) => line.replace(/(?:^| )\s*#.*$/, "").trim())
    .filter((line) => line !== "");
  if (!lines.every((line) => plainLine.test(line) || wholeLine.test(line)))
    return await runShell(script, { folder, env });
  let options = { cwd: folder, env };
  const all: Pick<CliResult, "code" | "stdout" | "stderr"> = { code: 0, stdout: "", stderr: "" };
  for (const line of lines) {
    let own = line.replace(addresses, env["KNOWCTL_BASE_URL"]!);
    for (const [quoted, inner = ""] of own.matchAll(/"\$\((knowctl [^"()]+)\)"/g)) {
      if (!plainLine.test(inner)) continue;
      const ran = await runPlain(inner, { ...options, stdin: undefined });
      all.stderr += ran.stderr;
      own = own.replace(quoted, () => `"${ran.stdout.trimEnd()}"`);
    }
    const [program, ...words] = wordsOf(own, options.cwd);
    if (program === "cd") options = { ...options, cwd: join(options.cwd, words[0]!) };
    else if (program === "export")
      options = { ...options, env: { ...options.env, ...variablesIn(words) } };
    else {
      let last: Pick<CliResult, "code" | "stdout"> = { code: 0, stdout: "" };
      for (const [index, stage] of stagesOf(own).entries()) {
        const stdin = index === 0 ? undefined : last.stdout;
        const ran = plainLine.test(stage)
          ? await runPlain(stage, { ...options, stdin })
          : await runShell(stage, { folder: options.cwd, env: options.env, stdin });
        all.stderr += ran.stderr;
        last = ran;
      }
      // Nobody types so fast that the index is still busy with the command before.
      await sandbox?.idle();
      all.code = last.code;
      all.stdout += last.stdout;
      if (last.code !== 0) break;
    }
  }
  return all;
}

/** Starts a sandbox as an example says, but at a free port, and ends it by SIGTERM when it has started. */
export async function runSandbox(
  line: string,
  { folder, env }: Pick<Place, "folder" | "env">,
): Promise<number> {
  if (!sandboxLine.test(line)) throw new Error(`not plain words: ${line}`);
  const context = createTestContext({ cwd: folder, env });
  const write = async (part: string | Uint8Array): Promise<void> => {
    await context.stderr.write(part);
    if (context.stderrText().includes("Ctrl-C here ends"))
      context.abort(new SignalReceived("SIGTERM", "terminated"));
  };
  // 8787 a sandbox of the user may hold.
  const words = wordsOf(line.replace(/--port \d+/, ""), folder).slice(1);
  return await main([...words, "--port", "0"], {
    ...context,
    stderr: { ...context.stderr, write },
  });
}

/** Runs a script; a sandbox in it runs until it has said that Ctrl-C ends it. */
export async function runShell(
  script: string,
  { folder, env, stdin }: Pick<Place, "folder" | "env"> & { stdin?: string | undefined },
): Promise<CliResult> {
  const line = script.replace(addresses, env["KNOWCTL_BASE_URL"]!);
  const child = spawn("sh", ["-ec", line], {
    cwd: folder,
    env,
    stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    timeout: patienceMs,
  });
  child.stdin?.end(stdin);
  const { stderr, ended } = follow(child, line, folder);
  child.stderr?.on("data", () => {
    // Once: a second signal may meet a process that no longer handles any.
    if (stderr().includes("Ctrl-C here ends") && !child.killed) child.kill("SIGTERM");
  });
  return await ended;
}
