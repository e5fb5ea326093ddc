import type * as FileSystem from "node:fs";
import { afterEach, expect, it, vi } from "vitest";
import { startTestService } from "../../../service.ts";
import { runIn } from "../../state/support.ts";
import { acceptedIds } from "../support.ts";

// A real lack of descriptors would hit whatever opens a file first: here it hits one call alone.
const fault = vi.hoisted(() => ({ call: "", path: "", code: "" }));

vi.mock("node:fs", async (importOriginal) => {
  const fs = await importOriginal<typeof FileSystem>();
  const failing =
    <A extends unknown[], R>(call: string, work: (...args: A) => R) =>
    (...args: A): R => {
      if (call === fault.call && String(args[0]).endsWith(fault.path)) {
        throw Object.assign(new Error(`${fault.code}: ${call}`), { code: fault.code });
      }
      return work(...args);
    };
  return {
    ...fs,
    openSync: failing("open", fs.openSync),
    readdirSync: failing("readdir", fs.readdirSync as (...args: unknown[]) => unknown),
  };
});

afterEach(() => void Object.assign(fault, { call: "", path: "", code: "" }));

it.each([
  ["open", "docs/b.md", "EMFILE"],
  ["open", "docs/b.md", "ENFILE"],
  ["readdir", "docs/sub", "EMFILE"],
])("no file is to blame when %s of %s says %s", async (call, path, code) => {
  const files = { "docs/a.md": "# A\n", "docs/b.md": "# B\n", "docs/sub/c.md": "# C\n" };
  const service = await startTestService({ files });
  Object.assign(fault, { call, path, code });
  const ran = await runIn(service, "ingest docs --cc-pair-id 2");
  expect(ran).toMatchObject({ code: 14, stderr: expect.stringContaining("too many open files") });
  expect(ran.stderr).toContain("ulimit -n");
  expect(acceptedIds(service)).toEqual([]);
  fault.call = "";
  expect(await runIn(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
  expect(acceptedIds(service)).toHaveLength(3);
});
