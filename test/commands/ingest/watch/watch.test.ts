import { execFileSync } from "node:child_process";
import { renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { IngestOptions } from "../../../../src/commands/ingest/ingest-options.ts";
import { createChanges, runRounds } from "../../../../src/commands/ingest/watch/rounds.ts";
import { openDatabase } from "../../../../src/database.ts";
import type { FaultRule } from "../../../../src/sandbox/http/faults.ts";
import { schemaOf } from "../../../schemas.ts";
import { startTestService, writeFiles, type TestService } from "../../../service.ts";
import { runCli } from "../../../support.ts";
import { openStored, runWatch, type Rest } from "./support.ts";

const files = { "docs/a.md": "# A\n\nFirst.\n", "docs/b.md": "# B\n\nFirst.\n" };

type Step = (rest: Rest) => void | Promise<void>;

/** Does one step at each rest, then ends the watch; gives the rests, the last one included. */
async function inSteps(service: TestService, options: object, steps: readonly Step[]) {
  const rests: Rest[] = [];
  const result = await runWatch(service, { watch: true, ...options }, async (rest) => {
    rests.push(rest);
    const step = steps[rests.length - 1];
    if (!step) return "end";
    await step(rest);
    return undefined;
  });
  expect(result.error, result.stderr).toMatchObject({ exit: "terminated" });
  return { rests, ...result };
}

const edit =
  (service: TestService, path: string, text: string): Step =>
  (rest) => {
    writeFiles(service.folder, { [path]: text });
    rest.change(5);
  };
const wait: Step = () => {};

describe("--watch and --settle: rounds", () => {
  it("come after each burst, print one line, and none where nothing was sent", async () => {
    const service = await startTestService({ files });
    const { rests } = await inSteps(service, {}, [
      edit(service, "docs/a.md", "# A\n\nSecond.\n"),
      // Touched, but the same.
      (rest) => rest.change(0),
      wait,
    ]);
    expect(rests.map(({ rounds }) => rounds)).toEqual([1, 2, 3, 4]);
    expect(rests[0]!.text).toMatch(
      /^watching for changes, with a full check every 1h; Ctrl-C ends$/m,
    );
    expect(rests[1]!.text).toBe("09:00:02 1 updated, 1 unchanged in 0.0s\n");
    expect([rests[2]!.text, rests[3]!.text]).toEqual(["", ""]);
  });

  it("wait for the end of a burst, but not for ever", async () => {
    const service = await startTestService({ files });
    // A change each second: the burst never ends by itself.
    const { rests } = await inSteps(service, {}, [
      (rest) => {
        writeFiles(service.folder, { "docs/a.md": "# A\n\nBusy.\n" });
        for (let second = 1; second < 100; second++) rest.change(second * 1000);
      },
    ]);
    expect(rests[1]!.text).toMatch(/^09:01:03 1 updated/m);
    expect(rests[1]!.rounds).toBe(3);
  });

  it("look at the whole folder each --every, with a new watcher", async () => {
    const service = await startTestService({ files });
    const { rests, stderr } = await inSteps(service, { every: 600_000 }, [
      (rest) => {
        expect(rest.ms).toBe(600_000);
        writeFiles(service.folder, { "docs/c.md": "# C\n\nMissed.\n" });
      },
    ]);
    expect(stderr).toMatch(/with a full check every 10m; Ctrl-C ends$/m);
    expect(rests[1]).toMatchObject({ rounds: 2, opened: 2, open: 1 });
    expect(rests[1]!.text).toMatch(/^09:10:00 1 created/m);
  });

  it("say with -q only what is wrong", async () => {
    const service = await startTestService({ files });
    const { stderr } = await inSteps(service, { quiet: true }, [
      edit(service, "docs/a.md", "---\nid: []\n---\n"),
    ]);
    expect(stderr).toMatch(/^failed docs\/a\.md.*\n$/);
  });

  it("report a broken file once, until it is mended", async () => {
    const service = await startTestService({ files });
    const { rests, stderr } = await inSteps(service, {}, [
      edit(service, "docs/a.md", "---\nid: []\n---\n"),
      edit(service, "docs/b.md", "# B\n\nSecond.\n"),
      edit(service, "docs/a.md", "# A\n\nMended.\n"),
      edit(service, "docs/a.md", "---\nid: []\n---\n"),
    ]);
    expect(rests[2]!.text).toMatch(/^\S+ 1 updated, 1 failed/);
    expect(rests[3]!.text).toMatch(/^\S+ 1 updated, 1 unchanged/);
    expect(stderr.match(/^failed docs\/a\.md/gm)).toHaveLength(2);
  });
});

describe("what ends a watch at its start", () => {
  it.each([
    [{ ccPairId: 99 }, "not-found"],
    [{ requireAccess: ["private"] }, "usage"],
    [{ prune: true }, "usage"],
  ] as [IngestOptions, string][])("%j", async (options, exit) => {
    const service = await startTestService({ files });
    const rests: Rest[] = [];
    const { error } = await runWatch(service, { watch: true, ...options }, (rest) => {
      rests.push(rest);
      return "end";
    });
    expect(error).toMatchObject({ exit });
    expect(rests).toEqual([]);
  });
});

describe("a state that no later round can use", () => {
  const spoilers: Record<string, (folder: string) => void | Promise<void>> = {
    "was written by another version of knowctl": async (folder) => {
      const database = await openDatabase(join(folder, ".knowctl", "state.db"));
      database.exec("UPDATE meta SET value = '99' WHERE key = 'schema'");
      database.close();
    },
    "git tracks the state": (folder) => {
      execFileSync("git", ["init", "-q"], { cwd: folder });
      execFileSync("git", ["add", "-f", ".knowctl/state.db"], { cwd: folder });
    },
    "is a symbolic link": (folder) => {
      renameSync(join(folder, ".knowctl"), join(folder, "elsewhere"));
      symlinkSync("elsewhere", join(folder, ".knowctl"));
    },
    "is not a folder": (folder) => {
      const path = join(folder, ".knowctl");
      rmSync(path, { recursive: true });
      writeFileSync(path, "mine");
    },
  };

  it.each(Object.entries(spoilers))("%s: ends the watch at its start", async (name, spoil) => {
    const service = await startTestService({ files });
    await inSteps(service, {}, []);
    await spoil(service.folder);
    const { error } = await runWatch(service, { watch: true }, () => "end");
    expect(error).toMatchObject({ exit: "local" });
    expect(String(error)).toContain(name);
  });

  it.each(Object.entries(spoilers))("%s: ends it later", async (name, spoil) => {
    const service = await startTestService({ files });
    let count = 0;
    const { error } = await runWatch(service, { watch: true }, async (rest) => {
      if (count++ > 0) return "end";
      await spoil(service.folder);
      rest.change();
      return undefined;
    });
    expect(error).toMatchObject({ exit: "local" });
    expect(String(error)).toContain(name);
    expect(count).toBe(1);
  });

  it("goes on where the next round can: a damaged state is moved aside", async () => {
    const service = await startTestService({ files });
    const { rests } = await inSteps(service, {}, [
      (rest) => {
        const path = join(service.folder, ".knowctl", "state.db");
        for (const end of ["-wal", "-shm"]) rmSync(path + end, { force: true });
        writeFileSync(path, "x".repeat(10_000));
        rest.change();
      },
      wait,
    ]);
    expect(rests[1]!.text).toMatch(/the state \S+ is damaged; moved to/);
    expect(rests[2]!.text).toMatch(/well again/);
  });
});

describe("trouble", () => {
  const upload = { method: "POST", path: "/api/onyx-api/ingestion" };

  it("is said once, retried with a growing wait, and its end is said", async () => {
    const rules: FaultRule[] = [{ do: { status: 401 } }];
    const service = await startTestService({ files, dialect: "onyx", faults: { rules } });
    rules.length = 0;
    const { rests } = await inSteps(service, {}, [
      (rest) => {
        rules.push({ when: upload, do: { status: 401 } });
        return edit(service, "docs/a.md", "# A\n\nSecond.\n")(rest);
      },
      wait,
      wait,
      // A change does not hurry a retry.
      (rest) => rest.change(10),
      () => void (rules.length = 0),
    ]);
    expect(rests.slice(1).map(({ ms }) => ms)).toEqual([5000, 10_000, 20_000, 19_990, 3_600_000]);
    expect(rests[1]!.text).toMatch(
      /^warning: 09:00:02 .*401.*\n(?:  → .*\n)*  trying again in 5s, then less often\n$/,
    );
    expect(rests.slice(2, 5).map(({ text }) => text)).toEqual(["", "", ""]);
    expect(rests[5]!.text).toMatch(/^\S+ 1 updated.*\n\S+ well again after 35s\n$/);
  });

  it("of one document holds back no other, and hides no outage", async () => {
    const rules: FaultRule[] = [];
    const service = await startTestService({ files, dialect: "onyx", faults: { rules } });
    const broken: FaultRule = { when: { ...upload, documentId: "docs/b.md" }, do: { status: 500 } };
    const { rests } = await inSteps(service, {}, [
      (rest) => {
        rules.push(broken);
        writeFiles(service.folder, { "docs/b.md": "# B\n\nSecond.\n" });
        return edit(service, "docs/a.md", "# A\n\nSecond.\n")(rest);
      },
      wait,
      edit(service, "docs/a.md", "# A\n\nThird.\n"),
      (rest) => {
        rules.unshift({ when: upload, do: { status: 503 } });
        return edit(service, "docs/a.md", "# A\n\nFourth.\n")(rest);
      },
      (rest) => {
        rules.shift();
        return rest.change(5);
      },
      () => void rules.pop(),
    ]);
    const texts = rests.map(({ text }) => text);
    expect(texts[1]).toMatch(/1 updated, 1 failed[^]*1 document was not accepted; the service acc/);
    // Retried, and not said again.
    expect(texts[2]).toBe("");
    expect(texts[3]).toMatch(/^09:00:13 1 updated, 1 failed in \S+\n$/);
    expect(texts[4]).toMatch(/^warning: \S+ 2 documents were not accepted\n/);
    expect(texts[5]).toMatch(/^\S+ 1 updated, 1 failed in \S+\n\S+ well again after 3\.5s\n$/);
    expect(texts[6]).toMatch(/^\S+ 1 updated, 1 unchanged in \S+\n\S+ well again after 1m46s\n$/);
  });

  it("of one document for ever does not put off the check", async () => {
    let nowMs = 0;
    const causes: string[] = [];
    const abort = new AbortController();
    const clock = {
      elapsed: () => nowMs,
      sleep: async (ms: number) => void (nowMs += ms),
      signal: abort.signal,
    };
    const times = { settleMs: 2000, everyMs: 60_000 };
    await expect(
      runRounds(times, clock, createChanges(clock.elapsed), async (cause) => {
        causes.push(`${cause} ${nowMs / 1000}`);
        if (causes.length === 6) abort.abort(new Error("over"));
        return { isTrouble: false, hasUnsent: true, hasEvents: true };
      }),
    ).rejects.toThrow("over");
    expect(causes).toEqual(["start 0", "retry 5", "retry 15", "retry 35", "check 60", "check 120"]);
  });

  it("waits at most five minutes", async () => {
    const rules: FaultRule[] = [];
    const service = await startTestService({ files, dialect: "onyx", faults: { rules } });
    const { rests } = await inSteps(service, {}, [
      (rest) => {
        rules.push({ when: upload, do: { status: 403 } });
        return edit(service, "docs/a.md", "# A\n\nSecond.\n")(rest);
      },
      ...Array.from({ length: 8 }, () => wait),
    ]);
    expect(rests.at(-1)!.ms).toBe(300_000);
  });

  it("at the start is waited for too: the service may start later", async () => {
    const rules: FaultRule[] = [{ when: upload, do: "reset-before-store" }];
    const service = await startTestService({ files, dialect: "onyx", faults: { rules } });
    const { rests } = await inSteps(service, {}, [() => void (rules.length = 0)]);
    expect(rests[0]).toMatchObject({ ms: 5000 });
    expect(rests[1]!.text).toMatch(/2 created[^]*well again[^]*watching for changes/);
  });

  it("of another kind in the same outage is said as well", async () => {
    const service = await startTestService({ files });
    const docs = join(service.folder, "docs");
    const away = join(service.folder, "away");
    const { rests } = await inSteps(service, {}, [
      (rest) => {
        renameSync(docs, away);
        rest.change();
      },
      // A link to another folder: its documents would get other ids.
      () => symlinkSync("away", docs),
      () => {
        rmSync(docs);
        renameSync(away, docs);
      },
    ]);
    expect(rests[1]!.text).toMatch(/no such file or folder: docs/);
    expect(rests[2]!.text).toMatch(/docs was \S+\/docs and is now \S+\/away; nothing is sent/);
    expect(rests[3]!.text).toMatch(/^\S+ well again/);
    expect(service.sandbox.ledger.documents.size).toBe(2);
    // The watcher of the folder that was moved away sees nothing of the one that is there.
    expect(rests[3]).toMatchObject({ open: 1, opened: rests[0]!.opened + 1 });
  });

  it("a root that becomes a link stops it, though everything is there", async () => {
    const service = await startTestService({ files });
    const moved = join(service.folder, "..", "moved");
    const { rests } = await inSteps(service, {}, [
      (rest) => {
        renameSync(service.folder, moved);
        symlinkSync("moved", service.folder);
        rest.change();
      },
      () => {
        rmSync(service.folder);
        renameSync(moved, service.folder);
      },
    ]);
    expect(rests[1]!.text).toMatch(/the project root was \S+ and is now \S+moved; nothing is sent/);
    expect(rests[2]!.text).toMatch(/well again/);
  });

  it("no events: it says so once and looks every 30 seconds", async () => {
    const service = await startTestService({ files });
    const { rests, stderr } = await inSteps(service, {}, [
      (rest) => rest.blind("docs is on NFS, which reports no changes"),
      (rest) => {
        // Thirty seconds after the last look.
        expect(rest.ms).toBe(28_000);
        writeFiles(service.folder, { "docs/a.md": "# A\n\nSecond.\n" });
      },
      wait,
    ]);
    expect(rests[2]!.text).toMatch(/^09:00:30 1 updated/);
    expect(stderr.match(/on NFS.*: looking for changes every 30s/g)).toHaveLength(1);
  });
});

describe("a configuration that changes", () => {
  it("counts from the next round on, and no longer trusted stops it until it is", async () => {
    const service = await startTestService({
      files: { ...files, ".cliconfig.json": '{"ingest":{"metadata":{"team":"one"}}}' },
    });
    const config = join(service.folder, ".cliconfig.json");
    const { rests } = await inSteps(service, {}, [
      (rest) => {
        expect(rest.watched!.configurations).toEqual([config]);
        writeFileSync(config, '{"ingest":{"metadata":{"team":"two"}}}');
        rest.change(0, true);
      },
      (rest) => {
        writeFileSync(config, '{"ingest":{"metadata":{"team":"three"},"idPrefix":"other/"}}');
        rest.change(0, true);
      },
      async () => {
        const trusted = await runCli(["config", "trust"], {
          cwd: service.folder,
          env: service.env,
        });
        expect(trusted.code, trusted.stderr).toBe(0);
      },
    ]);
    expect(rests[1]!.text).toMatch(
      /the configuration has changed: it counts from now on\n[^]*2 updated/,
    );
    expect(rests[1]).toMatchObject({ opened: 2, open: 1 });
    expect(rests[2]!.text).toMatch(/not trusted|trust/);
    expect(service.sandbox.ledger.documents.has("other/docs/a.md")).toBe(false);
    // Trusted, the ordinary guard of an upload speaks: every document would get another id.
    expect(rests[3]!.text).toMatch(/would be sent a second time, under another id/);
  });
});

describe("--prune", () => {
  const many = Object.fromEntries(
    Array.from({ length: 12 }, (_, index) => [`docs/p${index}.md`, `# P ${index}\n\nText.\n`]),
  );

  it("removes within its guards, never in the first round", async () => {
    const service = await startTestService({ files: many, dialect: "onyx" });
    await inSteps(service, {}, []);
    rmSync(join(service.folder, "docs/p0.md"));
    const stored = await openStored(service.folder);
    const remove =
      (...names: string[]): Step =>
      (rest) => {
        for (const name of names) rmSync(join(service.folder, "docs", name));
        rest.change();
      };
    const { rests, stdout } = await inSteps(service, { prune: true, output: "ndjson" }, [
      (rest) => {
        expect(stored().size).toBe(12);
        rest.change();
      },
      (rest) => {
        expect(stored().size).toBe(11);
        return remove("p1.md", "p2.md", "p3.md")(rest);
      },
      edit(service, "docs/p4.md", "# P\n\nOther.\n"),
    ]);
    expect(rests[1]!.text).toMatch(/^\S+ 11 unchanged, 1 document removed/);
    expect(rests[2]!.text).toMatch(/^warning: --prune: 3 of 11 documents would be removed/);
    // Said once; uploads go on.
    expect(rests[3]!.text).toMatch(/^\S+ 1 updated[^\n]*\n$/);
    expect(stored().size).toBe(11);
    const lines = stdout
      .trim()
      .split("\n")
      .map((each) => JSON.parse(each) as { type: string });
    expect(lines.filter(({ type }) => type === "removed")).toMatchObject([
      { id: "docs/p0.md", status: "deleted", class: "gone" },
    ]);
    const schema = schemaOf("ingest-events");
    for (const each of lines) expect(schema.safeParse(each).error).toBe(undefined);
  });

  it("with --tombstone where the service cannot delete", async () => {
    const service = await startTestService({ files });
    const { rests } = await inSteps(service, { prune: true, tombstone: true }, [
      (rest) => {
        rmSync(join(service.folder, "docs/b.md"));
        rest.change();
      },
    ]);
    expect(rests[1]!.text).toMatch(/1 document removed/);
    const stored = await openStored(service.folder);
    expect([...stored().values()].join()).toContain("This document has been removed.");
  });

  it("says once that it waits for documents that are not accepted", async () => {
    const rules: FaultRule[] = [{ when: { documentId: "docs/a.md" }, do: { status: 503 } }];
    const service = await startTestService({ files, dialect: "onyx", faults: { rules } });
    const { stderr } = await inSteps(service, { prune: true }, [
      (rest) => {
        rmSync(join(service.folder, "docs/b.md"));
        rest.change();
      },
      wait,
    ]);
    expect(stderr.match(/→ --prune removes nothing until/g)).toHaveLength(1);
    const stored = await openStored(service.folder);
    expect([...stored().keys()]).toEqual(["docs/b.md"]);
  });

  it("deletes nothing without it", async () => {
    const service = await startTestService({ files, dialect: "onyx" });
    await inSteps(service, {}, [
      (rest) => {
        rmSync(join(service.folder, "docs/b.md"));
        rest.change();
      },
    ]);
    const stored = await openStored(service.folder);
    expect(stored().size).toBe(2);
  });
});

it("prints an object for each event, which the schema allows", async () => {
  const rules: FaultRule[] = [];
  const service = await startTestService({ files, dialect: "onyx", faults: { rules } });
  const { stdout } = await inSteps(service, { output: "ndjson" }, [
    (rest) => {
      rules.push({ do: { status: 503 } });
      return edit(service, "docs/a.md", "# A\n\nSecond.\n")(rest);
    },
    () => void (rules.length = 0),
  ]);
  const lines = stdout
    .trim()
    .split("\n")
    .map((each) => JSON.parse(each) as { event?: string });
  const schema = schemaOf("ingest-events");
  for (const each of lines)
    expect(schema.safeParse(each).error, JSON.stringify(each)).toBe(undefined);
  expect(lines.flatMap(({ event }) => event ?? [])).toEqual(["watching", "trouble", "well"]);
});
