import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeProgram } from "../../src/program.ts";
import { runHere } from "../main.ts";
import { startTestService } from "../service.ts";

/** A variable for each switch of every command, on: what a forgotten setting of a pipeline may hold. */
const switches = (function namesOf(command = describeProgram()): [string, string][] {
  const own = command.options.filter((each) => each.isBoolean() || each.negate);
  const names = own.map(
    ({ long }) => `KNOWCTL_${long!.slice(2).replaceAll("-", "_").toUpperCase()}`,
  );
  return [
    ...names.map((name): [string, string] => [name, "1"]),
    ...command.commands.flatMap((each) => namesOf(each)),
  ];
})();

const lines = [
  "connectors list",
  "connectors get 2",
  "connectors find Boards",
  "connectors status",
  "status docs",
  "status docs --remote",
  "ingest docs --cc-pair-id 2 --dry-run",
  "prune docs --cc-pair-id 2 --dry-run",
  "explain docs/a.md",
  "convert docs",
  "lint docs",
  "verify",
  "sessions list",
  "files list",
  "tools list",
  "agents list",
  "state list",
  "config show",
  "config list",
];

it("no variable makes a command that only looks send or remove anything", async () => {
  const service = await startTestService({
    files: { "docs/a.md": "# A\n", "docs/b.md": "# B\n" },
    dialect: "onyx",
  });
  const at = (line: string, env = service.env) =>
    runHere(line.split(" "), { cwd: service.folder, env });
  expect(await at("ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
  rmSync(join(service.folder, "docs/b.md"));
  const env = { ...service.env, ...Object.fromEntries(switches), KNOWCTL_MAX_DELETE: "100%" };
  service.sandbox.ledger.requests.length = 0;
  for (const line of lines) await at(line, env);
  const changing = service.sandbox.ledger.requests
    .filter(({ method }) => method !== "GET")
    .map(({ method, path }) => `${method} ${path.replace(/\?.*/s, "")}`)
    .filter((each) => !/^POST .*(?:search|indexing-status)/.test(each));
  expect(service.sandbox.ledger.requests.length).toBeGreaterThan(8);
  expect(changing).toEqual([]);
});
