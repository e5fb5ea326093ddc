import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { sampleRun, wholeReport } from "../output/report/sample.ts";
import { startTestService, writeFiles, type TestService } from "../service.ts";
import { projectFolder, temporaryFolder } from "../support.ts";

export interface Place {
  folder: string;
  env: Record<string, string>;
  sandbox: TestService["sandbox"];
}

function commitTwice(folder: string): void {
  const who = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
  const git = (...args: string[]): void => {
    execFileSync("git", [...who, ...args], { cwd: folder, stdio: "ignore" });
  };
  git("init", "-q");
  for (const message of ["one", "two"]) {
    git("add", "-A");
    git("commit", "-q", "--allow-empty", "-m", message);
  }
}

/** A folder as the examples expect it, with `knowctl` on the PATH. */
export async function preparePlace(dialect: "standard" | "onyx" = "standard"): Promise<Place> {
  const { folder, sandbox, env } = await startTestService({ key: "sandbox", dialect });
  const programs = join(temporaryFolder(), "bin");
  mkdirSync(programs);
  symlinkSync(join(projectFolder, "bin", "knowctl.cjs"), join(programs, "knowctl"));
  const handbook = join(projectFolder, "examples", "handbook");
  cpSync(handbook, join(folder, "examples", "handbook"), { recursive: true });
  cpSync(handbook, join(folder, "docs"), { recursive: true });
  const shards = [1, 2].map((index) => {
    const report = wholeReport(sampleRun({ shard: { index, count: 2 } }));
    return [`shard-${index}.json`, JSON.stringify(report)] as const;
  });
  writeFiles(folder, { "prices.csv": "sku,name,notes\n1,Lamp,Bright.\n2,Desk,Wide.\n" });
  const wire = join(projectFolder, "test", "fixtures", "wire");
  cpSync(join(wire, "answer.ndjson"), join(folder, "recordings", "answer.ndjson"));
  commitTwice(folder);
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

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a script; a sandbox in it runs until it has said that Ctrl-C ends it. */
export async function runShell(
  script: string,
  { folder, env }: Pick<Place, "folder" | "env">,
): Promise<Ran> {
  const addresses = /http:\/\/127\.0\.0\.1:8787|https:\/\/assistant\.example\.com/g;
  const child = spawn("sh", ["-ec", script.replace(addresses, env["KNOWCTL_BASE_URL"]!)], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 30_000,
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    // Once: a second signal may meet a process that no longer handles any.
    if (stderr.includes("Ctrl-C here ends") && !child.killed) child.kill("SIGTERM");
  });
  return await new Promise((done, fail) => {
    child.on("error", fail);
    child.on("close", (code) => done({ code, stdout, stderr }));
  });
}
