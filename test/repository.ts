import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import { writeFiles } from "./service.ts";

/** Runs git as an author of its own, by default always at the same time; no configuration of this machine counts. */
export function runGit(
  folder: string,
  args: readonly string[],
  at = "2020-01-01T00:00:00Z",
): string {
  return execFileSync("git", ["-c", "maintenance.auto=false", ...args], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: devNull,
      GIT_AUTHOR_NAME: "a",
      GIT_AUTHOR_EMAIL: "a@example.com",
      GIT_COMMITTER_NAME: "a",
      GIT_COMMITTER_EMAIL: "a@example.com",
      GIT_AUTHOR_DATE: at,
      GIT_COMMITTER_DATE: at,
    },
  });
}

/** Id of the last commit, which is read: a process costs more. */
export function headOf(folder: string): string {
  const read = (path: string): string => readFileSync(join(folder, ".git", path), "utf8").trim();
  const head = read("HEAD");
  return head.startsWith("ref: ") ? read(head.slice("ref: ".length)) : head;
}

/** Commits everything that is in a work tree. Gives the commit's id. */
export function commitAll(folder: string, at?: string): string {
  runGit(folder, ["add", "-A"], at);
  runGit(folder, ["commit", "-q", "--allow-empty", "-m", "a change"], at);
  return headOf(folder);
}

type Files = Readonly<Record<string, string | Uint8Array>>;

const repositories = new Map<string, Files>();

/** The files in `.git` after `commits` commits of these files, made once for all tests of the process. */
export function repositoryOf(files: Files, commits = 1): Files {
  const key = JSON.stringify([files, commits]);
  const known = repositories.get(key) ?? makeRepository(files, commits);
  repositories.set(key, known);
  return known;
}

function makeRepository(files: Files, commits: number): Files {
  const folder = mkdtempSync(join(tmpdir(), "knowctl-repository-"));
  try {
    writeFiles(folder, files);
    runGit(folder, ["init", "-q", "-b", "main", "--template="]);
    for (let count = 0; count < commits; count++) commitAll(folder);
    const names = readdirSync(join(folder, ".git"), { recursive: true, encoding: "utf8" });
    const paths = names.map((name) => join(".git", name));
    const found = paths.filter((path) => statSync(join(folder, path)).isFile());
    return Object.fromEntries(found.map((path) => [path, readFileSync(join(folder, path))]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
