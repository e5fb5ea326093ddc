import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runHere } from "../main.ts";
import { startTestService, testKey } from "../service.ts";
import { cleanEnvironment } from "../support.ts";
import { hasTerminal, run, sitDown, takenBy } from "./support.ts";

const files = { "docs/pumps.md": "# Pumps\n\n## Priming a pump\n\nOpen the blue valve first.\n" };
const up = "\u001b[A";

it.skipIf(!hasTerminal)("from nothing to one's own service, at a terminal", async () => {
  const service = await startTestService({ files });
  const { folder, sandbox } = service;
  const home = join(folder, "..");
  const env = cleanEnvironment(home);
  const person = sitDown({ folder, env });

  // Without an account: a conversation about one's own folder.
  person.enter("knowctl try docs");
  const begun = await person.sees(/> \u001b\[3G/);
  expect(begun).toContain("nothing leaves this machine");
  person.press(up);
  await person.sees('What about "Priming a pump" in "Pumps"?');
  person.press("\r");
  await person.sees("Open the blue valve first.");
  await person.sees(/\[1\] Pumps[^]*> \u001b\[3G/);
  person.press("\u0004");
  const ended = await person.endsWith(0);
  expect(ended).toContain("the local service has ended, and the session with it");
  expect(ended).toContain("knowctl config init");
  // What is gone is not offered.
  expect(ended).not.toContain("continue with");
  expect(readdirSync(join(folder, "docs"))).toEqual(["pumps.md"]);
  expect(existsSync(join(home, "config"))).toBe(false);
  expect(sandbox.ledger.requestCount).toBe(0);

  // Then one's own service. Mistakes cost an answer, not the whole form.
  person.enter("knowctl config init");
  await person.sees("Address of the service (Enter: I have none yet): ");
  person.press("my service\r");
  await person.sees("Address of the service (Enter: I have none yet): ");
  person.press(`${sandbox.url}\r`);
  const origin = await person.sees("API key (not shown): ");
  expect(origin).toContain("Where a key is made");
  person.press("wrong-key\r");
  const refused = await person.sees("API key (not shown): ");
  expect(refused).toContain("401");
  expect(refused).toMatch(/enter another key/);
  person.press(`${testKey}\r`);
  const named = await person.sees("Name of this profile [default]: ");
  expect(named).toContain("dialect standard (detected)");
  person.press("work\r");
  const tested = await person.sees(/Id prefix of documents from .*: $/);
  person.press("handbook/\r");
  const saved = `${tested}${await person.endsWith(0)}`;
  expect(saved).toContain("profile work saved");
  expect(saved).toContain("next: knowctl connectors list");

  // The daily minute: choose a connector, upload, keep the options, ask.
  person.enter("knowctl connectors list");
  expect(await person.endsWith(0)).toMatch(/ 2 {2}Handbook uploads +ingestion_api +public/);
  person.enter("knowctl ingest docs --cc-pair-id 2");
  const sent = await person.endsWith(0);
  expect(sent).toMatch(
    /done: 1 created in \S+ · Handbook uploads \(pair 2\) at 127.0.0.1:\d+,\s+profile work/,
  );
  expect(sent).toContain("next: the same command with --print-config");
  const printed = await run({ ...service, env }, "ingest docs --cc-pair-id 2 --print-config");
  writeFileSync(join(folder, ".cliconfig.json"), printed.stdout);
  expect(await run({ ...service, env }, "config trust")).toMatchObject({ code: 0 });
  const again = await runHere(["ingest"], { cwd: folder, env });
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("1 unchanged") });
  await sandbox.idle();
  const asked = await run({ ...service, env }, "chat priming a pump");
  expect(asked.code).toBe(0);
  expect(asked.stdout).toContain("Open the blue valve first.");
  expect(takenBy(sandbox)).toEqual({ "handbook/docs/pumps.md": 1 });
});
