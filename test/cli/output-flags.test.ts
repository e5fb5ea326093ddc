import { describe, expect, it } from "vitest";
import { chatRenderers } from "../../src/output/chat/render.ts";
import { writers } from "../../src/output/formats/writers.ts";
import { allFormats, formOf, listFormats } from "../../src/cli/formats.ts";
import { leaves } from "./flags/commands.ts";
import { play, useSandboxes } from "./flags/play.ts";
import { runnable } from "./flags/runnable.ts";

// --output, --json, --fields, --filter and --jq of every command: each works, or is exit 2 before
// anything is sent.
useSandboxes();

/** Refused before anything is sent; the service has not been asked. */
async function expectRefused(path: string, flag: readonly string[]): Promise<void> {
  const { code, stderr, requests } = await play(path, flag, runnable[path] ?? {});
  expect({ code, requests }, `${flag.join(" ")}: ${stderr}`).toEqual({
    code: 2,
    requests: "most in flight: 0",
  });
  expect(stderr).toContain(flag[0]);
  expect(stderr).toMatch(/\n {2}→ /);
}

const readers: Readonly<Record<string, (text: string) => unknown>> = {
  json: (text) => JSON.parse(text),
  ndjson: (text) =>
    text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as unknown),
};

it("--output takes the name of each writer, and no other", () => {
  const what = "add the name to listFormats in src/cli/formats.ts";
  expect(listFormats, what).toEqual(Object.keys(writers));
  expect(formOf("chat").formats).toEqual(Object.keys(chatRenderers));
});

it("has a command line for each command", () => {
  const missing = leaves().filter((path) => runnable[path] === undefined);
  expect(missing, "add one to test/cli/flags/runnable.ts").toEqual([]);
});

describe.each(leaves())("%s", (path) => {
  const { formats, selection } = formOf(path);
  const setting = runnable[path] ?? {};
  const done = setting.until === undefined ? 0 : 130;

  it("writes each of its formats", async () => {
    for (const format of formats) {
      const { code, stdout, stderr } = await play(path, ["--output", format], setting);
      expect(code, `${format}: ${stderr}`).toBe(done);
      if (stdout !== "") readers[format]?.(stdout);
    }
    if (!formats.includes("json")) return;
    const { code, stdout, stderr } = await play(path, "--json", setting);
    expect(code, stderr).toBe(done);
    if (stdout !== "") JSON.parse(stdout);
  });

  it("refuses other formats, and two at once", async () => {
    const other = allFormats.find((format) => !formats.includes(format)) ?? "nonsense";
    await expectRefused(path, ["--output", other]);
    if (!formats.includes("json")) return await expectRefused(path, ["--json"]);
    const second = formats.find((format) => format !== "json") ?? "";
    await expectRefused(path, ["--json", "--output", second]);
  });

  it("selects, or refuses to", async () => {
    if (!selection.includes("fields")) await expectRefused(path, ["--fields", "name"]);
    if (!selection.includes("filter")) await expectRefused(path, ["--filter", "name=a"]);
    if (!selection.includes("jq")) return await expectRefused(path, ["--jq", "."]);
    await expectRefused(path, ["--jq", ".["]);
    await expectRefused(path, ["--fields", "a,,b"]);
    if (selection.includes("filter")) await expectRefused(path, ["--filter", "nonsense"]);
    const { code, stderr, requests } = await play(path, ["--fields", "nosuch"], setting);
    // An empty list has no members that could be known.
    if (code !== 0)
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("nosuch") });
    // A listing has members that only the answer tells; whatever changes something knows them before.
    expect(requests).not.toMatch(/^(?:POST|PUT|PATCH|DELETE) |"document"/m);
    const picked = await play(path, ["--jq", "type"], setting);
    expect(picked.code, picked.stderr).toBe(done);
    expect(picked.stdout).toMatch(/^(?:array|object)\n$/);
  });
});
