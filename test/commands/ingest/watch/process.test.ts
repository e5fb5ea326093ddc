import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ChildProcess } from "node:child_process";
import { expect, it, onTestFinished } from "vitest";
import { startTestService, type TestService } from "../../../service.ts";
import { runCli } from "../../../support.ts";
import { patienceMs } from "../../../patience.ts";
import { openStored } from "./support.ts";

const files = { "docs/a.md": "# A\n\nFirst.\n", "docs/b.md": "# B\n\nFirst.\n" };

/** The real program with the real watcher, and what it has printed. */
async function startWatch(service: TestService, ...more: string[]) {
  let text = "";
  let child: ChildProcess | undefined;
  const args = ["ingest", "docs", "--cc-pair-id", "2", "--watch", "--settle", "100ms", ...more];
  const ended = runCli(args, {
    cwd: service.folder,
    env: service.env,
    onStart(started) {
      child = started;
      started.stderr?.on("data", (data: Buffer) => (text += data.toString()));
    },
  });
  onTestFinished(() => void child?.kill("SIGKILL"));
  /** Resolves when the text so far holds this, after what an earlier call found. */
  let from = 0;
  const printed = async (wanted: RegExp): Promise<void> => {
    await expect.poll(() => wanted.exec(text.slice(from)), { timeout: patienceMs }).not.toBe(null);
    from += text.slice(from).search(wanted) + 1;
  };
  await printed(/watching for changes/);
  return { printed, ended, end: (signal: NodeJS.Signals) => child?.kill(signal) };
}

it("uploads what changes, by any kind of edit, and ends as an upload does", async () => {
  const service = await startTestService({ files, dialect: "onyx" });
  const stored = await openStored(service.folder);
  const docs = join(service.folder, "docs");
  const { printed, end, ended } = await startWatch(service);
  writeFileSync(join(docs, "a.md"), "# A\n\nSecond.\n");
  await printed(/1 updated/);
  // As an editor saves: another file takes the place.
  writeFileSync(join(docs, ".a.md.swp"), "# A\n\nThird.\n");
  renameSync(join(docs, ".a.md.swp"), join(docs, "a.md"));
  await printed(/1 updated/);
  mkdirSync(join(docs, "new", "deep"), { recursive: true });
  writeFileSync(join(docs, "new", "deep", "c.md"), "# C\n\nNew.\n");
  await printed(/1 created/);
  writeFileSync(join(docs, "new", "deep", "c.md"), "# C\n\nEdited.\n");
  await printed(/1 updated/);
  // What an upload does not take wakes nobody: the next line is of the visible file.
  mkdirSync(join(docs, "node_modules"));
  writeFileSync(join(docs, "node_modules", "x.md"), "# X\n");
  writeFileSync(join(docs, ".hidden.md"), "# H\n");
  writeFileSync(join(docs, ".gitignore"), "ignored/\n");
  mkdirSync(join(docs, "ignored"));
  writeFileSync(join(docs, "ignored", "y.md"), "# Y\n");
  writeFileSync(join(docs, "b.md"), "# B\n\nSecond.\n");
  await printed(/1 updated/);
  // A folder that is no longer ignored is found without a change in it.
  rmSync(join(docs, ".gitignore"));
  await printed(/1 created/);
  writeFileSync(join(docs, "ignored", "y.md"), "# Y\n\nEdited.\n");
  await printed(/1 updated/);
  end("SIGTERM");
  const { code, stderr } = await ended;
  expect(code).toBe(143);
  expect(stderr).toMatch(/interrupted by SIGTERM\n$/);
  expect([...stored().keys()].toSorted()).toEqual([
    "docs/a.md",
    "docs/b.md",
    "docs/ignored/y.md",
    "docs/new/deep/c.md",
  ]);
  expect(stored().get("docs/ignored/y.md")).toContain("Edited.");
});

it("says once that the folder is gone, and watches the one that comes back", async () => {
  const service = await startTestService({ files });
  const docs = join(service.folder, "docs");
  const away = join(service.folder, "away");
  const { printed, end, ended } = await startWatch(service);
  renameSync(docs, away);
  await printed(/no such file or folder: docs/);
  renameSync(away, docs);
  await printed(/well again/);
  writeFileSync(join(docs, "a.md"), "# A\n\nBack.\n");
  await printed(/1 updated/);
  end("SIGINT");
  const { code, stderr } = await ended;
  expect(code).toBe(130);
  expect(stderr.match(/^warning:/gm)).toHaveLength(1);
});

it("writes events as ndjson, and each report anew", async () => {
  const service = await startTestService({ files });
  const report = join(service.folder, "docs", "report.json");
  const more = ["--output", "ndjson", "--report", "docs/report.json", "--state", "docs/state"];
  const { printed, end, ended } = await startWatch(service, ...more);
  const counts = () =>
    (JSON.parse(readFileSync(report, "utf8")) as { counts: { updated: number } }).counts;
  expect(counts()).toMatchObject({ updated: 0 });
  writeFileSync(join(service.folder, "docs", "a.md"), "# A\n\nSecond.\n");
  await printed(/1 updated/);
  expect(counts()).toMatchObject({ updated: 1 });
  end("SIGHUP");
  const { code, stdout } = await ended;
  expect(code).toBe(129);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string });
  // Neither the report nor the state in the folder makes another round; the report is skipped by name.
  expect(events.map(({ type }) => type).join(" ")).toBe(
    "document document result watch document document result",
  );
});
