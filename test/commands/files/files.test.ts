import {
  appendFileSync,
  mkdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkFiles, contentTypeOf, steadyBytes } from "../../../src/commands/files/local.ts";
import { temporaryFolder } from "../../support.ts";
import { type SessionsWorld, createSessionsWorld } from "../sessions/support.ts";

const uploadPath = "/api/user/projects/file/upload";
const dialects = ["standard", "onyx"] as const;

function write(world: SessionsWorld, files: Record<string, string | Uint8Array>): void {
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(world.home, name), content);
  }
}

const pdf = "%PDF-1.7 a plan";

describe.each(dialects)("chat --file (%s)", (dialect) => {
  it("waits until the file is processed, then sends its descriptor", async () => {
    const world = await createSessionsWorld({ dialect, fileLooks: 3 });
    write(world, { "plan.pdf": pdf, "notes.md": "# Notes", data: "plain words" });
    const args = ["--file", "plan.pdf", "--file", "notes.md", "--file", "./plan.pdf"];
    const { code, sleeps } = await world.command(["chat", ...args, "--file", "data", "hi"]);
    expect(code).toBe(0);
    expect(sleeps.slice(0, 3)).toEqual([500, 750, 1125]);
    const descriptor = { id: expect.any(String), user_file_id: expect.any(String) };
    expect(world.asked()["file_descriptors"]).toEqual([
      { ...descriptor, name: "plan.pdf", type: "document" },
      { ...descriptor, name: "notes.md", type: "plain_text" },
      { ...descriptor, name: "data", type: "plain_text" },
    ]);
  });

  it("asks nothing when the service rejects a file, and names each", async () => {
    const world = await createSessionsWorld({ dialect });
    write(world, { "a.bin": "a\0b", "b.txt": "words", "c.bin": "c\0d" });
    const files = ["a.bin", "b.txt", "c.bin"].flatMap((name) => ["--file", name]);
    const { code, stdout, stderr } = await world.command(["chat", ...files, "hi"]);
    expect({ code, stdout }).toEqual({ code: 8, stdout: "" });
    expect(stderr).toContain("the service rejected 2 files");
    expect(stderr).toContain("a.bin: No text could be read from the file");
    expect(stderr).toContain("c.bin: No text could be read from the file");
    expect(stderr).toMatch(/--file-id [0-9a-f-]{36}\n/);
    expect(world.sandbox.ledger.chats).toEqual([]);
    const one = await world.command(["chat", "--file", "a.bin", "hi"]);
    expect(one.stderr).toContain("error: the service rejected a.bin: No text could be read");
  });

  it("asks nothing when a file cannot be processed", async () => {
    const world = await createSessionsWorld({ dialect, fileLooks: 2 });
    write(world, { "broken.pdf": "no pdf" });
    const { code, stderr } = await world.command(["chat", "--file", "broken.pdf", "hi"]);
    expect(code).toBe(8);
    expect(stderr).toContain("the service could not process broken.pdf: failed");
    expect(world.sandbox.ledger.chats).toEqual([]);
  });

  it("does not wait for ever, and says how to go on", async () => {
    const world = await createSessionsWorld({ dialect, fileLooks: 1000 });
    write(world, { "plan.pdf": pdf });
    const args = ["chat", "--file", "plan.pdf", "--timeout", "20", "hi"];
    const { code, stderr, sleeps } = await world.command(args);
    expect(code).toBe(7);
    expect(stderr).toMatch(/still processing plan\.pdf\n.*--timeout, or ask later with --file-id/);
    expect(sleeps.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(20_000);
    expect(world.sandbox.ledger.chats).toEqual([]);
  });

  it.each([
    ["missing", "missing.txt", "no such file"],
    ["below a file", "file.txt/x", "no such file"],
    ["a folder", ".", "it is a folder"],
    ["empty", "empty.txt", "it is empty"],
    ["a pointer", "pointer.png", "a Git LFS pointer, not the file itself; fetch"],
  ])("refuses before anything is sent: %s", async (_name, path, reason) => {
    const world = await createSessionsWorld({ dialect });
    const before = world.sandbox.ledger.requestCount;
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\nsize 9\n`;
    write(world, { "empty.txt": "", "file.txt": "x", "pointer.png": pointer });
    const { code, stderr } = await world.command(["chat", "--file", path, "hi"]);
    expect(code).toBe(2);
    expect(stderr).toContain(reason);
    expect(world.sandbox.ledger.requestCount).toBe(before);
  });
});

describe("chat --file", () => {
  it("says that a file past the usual limit may be too large", async () => {
    const world = await createSessionsWorld({
      faults: { rules: [{ when: { path: uploadPath }, do: { status: 413, body: "too large" } }] },
    });
    write(world, { "big.txt": "x" });
    const { code, stderr } = await world.command(["chat", "--file", "big.txt", "hi"]);
    expect(code).toBe(2);
    expect(stderr).toContain("services accept 100 MB by default");
  });

  it("shows hostile names and reasons inert", async () => {
    const body = {
      user_files: [],
      rejected_files: [{ file_name: "x", reason: "no\u001b[2J\n::error::\u202e" }],
    };
    const world = await createSessionsWorld({
      faults: { rules: [{ when: { path: uploadPath }, do: { status: 200, body } }] },
    });
    const name = "a\u001b]0;x\u0007.txt";
    write(world, { [name]: "x" });
    const { stderr } = await world.command(["chat", "--file", name, "hi"], { isTTY: true });
    expect(stderr.replace(/\u001b\[\d+m/g, "")).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e]/);
  });

  it("a link is followed unless it leads from the folder out of it", () => {
    const home = temporaryFolder();
    const cwd = join(home, "work");
    mkdirSync(cwd);
    writeFileSync(join(home, "secret.txt"), "words");
    writeFileSync(join(cwd, "page.txt"), "words");
    symlinkSync(join(home, "secret.txt"), join(cwd, "out.txt"));
    symlinkSync("page.txt", join(cwd, "in.txt"));
    symlinkSync(home, join(cwd, "up"));
    symlinkSync(join(home, "secret.txt"), join(home, "own.txt"));
    for (const name of ["out.txt", "up/secret.txt"]) {
      expect(() => checkFiles(cwd, [name])).toThrow(
        expect.objectContaining({
          exit: "usage",
          hints: [expect.stringContaining(realpathSync(join(home, "secret.txt")))],
        }),
      );
    }
    expect(checkFiles(cwd, ["in.txt", "../own.txt", "../secret.txt"])).toHaveLength(3);
  });

  it.each([
    ["grows", (path: string) => appendFileSync(path, "x"), "changed while it was uploaded"],
    ["shrinks", (path: string) => truncateSync(path, 5), "changed while it was uploaded"],
    ["is gone", (path: string) => rmSync(path), "no such file"],
  ])("a file that %s before it is read is an error", async (_name, change, words) => {
    const path = join(temporaryFolder(), "plan.txt");
    writeFileSync(path, "some words");
    const [file] = checkFiles("/", [path]);
    change(path);
    const read = async () => {
      for await (const _ of steadyBytes(file!, () => {})) void _;
    };
    await expect(read()).rejects.toMatchObject({
      exit: "local",
      message: expect.stringContaining(words),
    });
  });

  it("a file that is written to while it is read is an error, whatever its length", async () => {
    const path = join(temporaryFolder(), "plan.txt");
    writeFileSync(path, "a".repeat(300_000));
    // Else both writes may fall into one tick of the clock.
    utimesSync(path, 1e9, 1e9);
    const [file] = checkFiles("/", [path]);
    const read = async () => {
      for await (const _ of steadyBytes(file!, () => {})) writeFileSync(path, "b".repeat(300_000));
    };
    await expect(read()).rejects.toMatchObject({ exit: "local" });
  });
});

describe.each(dialects)("files (%s)", (dialect) => {
  it("upload prints ids that --file-id takes, and list shows them", async () => {
    const world = await createSessionsWorld({ dialect, fileLooks: 2 });
    write(world, { "plan.pdf": pdf, "notes.md": "# Notes" });
    const upload = ["files", "upload", "plan.pdf", "notes.md"];
    const { code, stdout } = await world.command([...upload, "--fields", "file_id,status,type"]);
    expect(code).toBe(0);
    const [plan = [], notes = []] = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t"));
    expect([plan.slice(1), notes.slice(1)]).toEqual([
      ["COMPLETED", "document"],
      ["COMPLETED", "plain_text"],
    ]);
    const list = await world.command(["files", "list", "-o", "json"]);
    expect(JSON.parse(list.stdout)).toEqual(
      expect.arrayContaining([expect.objectContaining({ file_id: plan[0], name: "plan.pdf" })]),
    );
    const one = ["files", "list", "--filter", "name=notes.md", "--limit", "1", "-o", "csv"];
    expect((await world.command([...one, "--fields", "name,file_id"])).stdout).toBe(
      `name,file_id\nnotes.md,${notes[0]}\n`,
    );
    expect(await world.run(["--file-id", plan[0]!, "hi"])).toMatchObject({ code: 0 });
    expect(world.asked()["file_descriptors"]).toEqual([
      expect.objectContaining({ id: plan[0], name: "plan.pdf", type: "document" }),
    ]);
  });

  it("upload does not wait with --no-wait", async () => {
    const world = await createSessionsWorld({ dialect, fileLooks: 5 });
    write(world, { "plan.pdf": pdf });
    const { stdout, sleeps } = await world.command([
      "files",
      "upload",
      "--no-wait",
      "plan.pdf",
      "--fields",
      "status",
    ]);
    expect({ stdout, sleeps }).toEqual({ stdout: "PROCESSING\n", sleeps: [] });
  });

  it("upload prints what was taken although others were not, and is exit 10", async () => {
    const world = await createSessionsWorld({ dialect });
    write(world, { "a.bin": "a\0b", "b.txt": "words" });
    const both = await world.command(["files", "upload", "a.bin", "b.txt", "--fields", "name"]);
    expect(both).toMatchObject({ code: 10, stdout: "b.txt\n" });
    expect(both.stderr).toContain("rejected a.bin");
    expect(await world.command(["files", "upload", "a.bin"])).toMatchObject({
      code: 8,
      stdout: "",
    });
    write(world, { "broken.pdf": "no pdf" });
    const lost = await world.command([
      "files",
      "upload",
      "broken.pdf",
      "b.txt",
      "--fields",
      "status",
    ]);
    expect(lost).toMatchObject({ code: 10, stdout: "FAILED\nCOMPLETED\n" });
  });

  it("list says that there are none", async () => {
    const world = await createSessionsWorld({ dialect });
    expect(await world.command(["files", "list"])).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "there are no files\n",
    });
  });

  it("upload --image refuses what is no image, before anything is sent", async () => {
    const world = await createSessionsWorld({ dialect });
    write(world, {
      "plan.png": Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
      "x.txt": "Text.",
    });
    const { code, stdout, stderr } = await world.command([
      "files",
      "upload",
      "plan.png",
      "x.txt",
      "--image",
    ]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("--image: x.txt is not an image (text/plain)");
  });

  it("upload --image prints what an image section takes", async () => {
    const world = await createSessionsWorld({ dialect });
    write(world, { "plan.png": Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]) });
    const { code, stdout } = await world.command(["files", "upload", "--image", "plan.png"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^[0-9a-f-]{36}\tplan\.png\n$/);
  });
});

const bytes = (...values: number[]) => Buffer.from(values);

describe("contentTypeOf", () => {
  it.each<[string, string | Buffer, string]>([
    ["a.pdf", "", "application/pdf"],
    ["A.PDF", "", "application/pdf"],
    ["a.b.csv", "", "text/csv"],
    ["a.xlsx", "", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
    ["a.jpg", "", "image/jpeg"],
    // By the extension alone: the service decides the same way.
    ["a.md", "%PDF-", "text/markdown"],
    // Without one that is known by the first bytes.
    ["plan", "%PDF-1.7", "application/pdf"],
    ["plan.unknown", bytes(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a), "image/png"],
    ["photo", bytes(0xff, 0xd8, 0xff, 0xe0), "image/jpeg"],
    ["anim", "GIF89a", "image/gif"],
    ["pic", Buffer.from("RIFF\0\0\0\0WEBPVP8 ", "latin1"), "image/webp"],
    ["box", bytes(0x50, 0x4b, 3, 4), "application/zip"],
    ["core", bytes(0x7f, 0x45, 0), "application/octet-stream"],
    ["Makefile", "all:\n", "text/plain"],
    [".constructor", "x", "text/plain"],
    ["a.__proto__", "x", "text/plain"],
  ])("%s", (name, content, type) => {
    const path = join(temporaryFolder(), name);
    writeFileSync(path, content);
    expect(contentTypeOf(path)).toBe(type);
  });
});
