import { expect, it } from "vitest";
import { replaceInFileSystem } from "../../../file-system.ts";
import { startTestService } from "../../../service.ts";
import { runIn } from "../../state/support.ts";
import { acceptedIds } from "../support.ts";

it.each([
  ["openSync", "docs/b.md", "EMFILE"],
  ["openSync", "docs/b.md", "ENFILE"],
  ["readdirSync", "docs/sub", "EMFILE"],
] as const)("no file is to blame when %s of %s says %s", async (call, path, code) => {
  const files = { "docs/a.md": "# A\n", "docs/b.md": "# B\n", "docs/sub/c.md": "# C\n" };
  const service = await startTestService({ files });
  // A real lack of descriptors would hit whatever opens a file first: here it hits one call alone.
  let isShort = true;
  replaceInFileSystem(call, (actual) => (...args: unknown[]) => {
    if (!isShort || !String(args[0]).endsWith(path)) return actual(...args);
    throw Object.assign(new Error(`${code}: ${call}`), { code });
  });
  const ran = await runIn(service, "ingest docs --cc-pair-id 2");
  expect(ran).toMatchObject({ code: 14, stderr: expect.stringContaining("too many open files") });
  expect(ran.stderr).toContain("ulimit -n");
  expect(acceptedIds(service)).toEqual([]);
  isShort = false;
  expect(await runIn(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
  expect(acceptedIds(service)).toHaveLength(3);
});
