import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../main.ts";
import { writeFiles } from "../service.ts";
import { cleanEnvironment, temporaryFolder } from "../support.ts";

/** A project with a file and a folder, to name each in place of the other. */
function createProject() {
  const home = temporaryFolder();
  const cwd = join(home, "project");
  writeFiles(cwd, {
    ".git/HEAD": "",
    file: "text\n",
    "folder/a.md": "# A\n\n## Who pays for lunch?\n\nThe company.\n",
    "q.ndjson": '{"message":"a"}\n',
  });
  const env = cleanEnvironment(home, {
    KNOWCTL_BASE_URL: "http://127.0.0.1:1",
    KNOWCTL_API_KEY: "a-key-of-the-test",
  });
  return { cwd, run: (line: string) => runHere(line.split(" "), { cwd, env }) };
}

const ways = [
  ["sandbox --port 0 --data file", "project/file", "it is not a folder"],
  [
    "sandbox --port 0 --data file/below",
    "project/file/below",
    "a part of its path is not a folder",
  ],
  ["files upload none", "none", "no such file"],
  ["files upload file/below", "file/below", "no such file"],
  ["chat --file none hello", "none", "no such file"],
  ["chat --record folder hello", "folder", "it is a folder"],
  ["chat --record none/below hello", "none/below", "its folder does not exist"],
  ["chat --save none/below hello", "none/below", "does not exist"],
  ["chat --payload folder", "folder", "it is a folder"],
  ["chat --batch folder", "folder", "it is a folder"],
  ["chat --batch q.ndjson --resume folder", "folder", "it is a folder"],
  ["chat --replay folder", "folder", "it is a folder"],
  ["doctor --bundle none/below", "none/below", "does not exist"],
  ["doctor --bundle file/below", "file/below", "not a folder"],
  ["ingest folder --cc-pair-id 2 --report file/below.json", "file/below.json", "not a folder"],
  ["lint folder --report file/below.json", "file/below.json", "not a folder"],
  ["lint folder --baseline folder", "folder", "it is a folder"],
  ["lint folder --baseline file/below.json", "file/below.json", "no such file"],
  ["eval init folder --out file/below.yaml", "file/below.yaml", "not a folder"],
  ["eval retrieval folder", "folder", "it is a folder"],
  ["eval retrieval none.yaml --record file", "file", "not a folder"],
  ["eval retrieval none.yaml --replay none", "none", "no such file"],
  ["state import folder", "folder", "it is a folder"],
  ["state import file/below", "file/below", "no such file"],
  ["report merge folder", "folder", "it is a folder"],
  ["report merge none.json --report file/below.json", "none.json", "no such file"],
  ["connectors list --ca-file none", "none", "no such file"],
  ["connectors list --ca-file folder", "folder", "it is a folder"],
  ["connectors list --client-cert none", "none", "no such file"],
  ["connectors list --config none.json", "none.json", "no such file"],
  ["config set chat.personaId 3 --config file/below.json", "file/below.json", "not a folder"],
  ["config set chat.personaId 3 --config folder", "folder", "it is a folder"],
  ["api POST /x --input folder", "folder", "it is a folder"],
  ["api POST /x -F a=@none", "none", "no such file"],
  ["login --with-token --config folder", "folder", "it is a folder"],
  ["ingest folder --dry-run --state file", "project/file", "is not a folder"],
  ["state list --state file", "project/file", "is not a folder"],
  ["state list --state file/below", "file/below", "a part of its path is not a folder"],
] as const;

describe("a path that is no usable file", () => {
  it.each(ways)("%s: says in words what is wrong, with a remedy", async (line, name, words) => {
    const { code, stderr } = await createProject().run(line);
    expect(code, stderr).toBeGreaterThan(1);
    expect(stderr).toContain(name);
    expect(stderr).toContain(words);
    expect(stderr).toContain("\n  → ");
    expect(stderr).not.toMatch(/\bE[A-Z]{3,}\b/);
  });
});

describe("--state with a file of the user", () => {
  it("never advises to remove the file", async () => {
    const { run } = createProject();
    for (const line of ["state list --state file", "ingest folder --dry-run --state file"]) {
      const { code, stderr } = await run(line);
      expect(code).toBe(14);
      expect(stderr).toContain("project/file is not a folder: not used\n");
      expect(stderr).toContain("→ name a folder with --state; a missing one is created\n");
      expect(stderr).not.toContain("remove");
    }
  });

  it("advises another name where the file stands in the place of the state", async () => {
    const { cwd, run } = createProject();
    writeFileSync(join(cwd, ".knowctl"), "mine");
    const { code, stderr } = await run("ingest folder --dry-run");
    expect(code).toBe(14);
    expect(stderr).toContain("→ give the file another name, or name another root with --root\n");
    expect(stderr).not.toContain("remove");
  });
});
