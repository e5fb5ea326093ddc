import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestService } from "../service.ts";
import { pages, run, startAgain, takenBy } from "./support.ts";

const ingestion = { method: "POST", path: "/api/onyx-api/ingestion" };

it("an outage in the middle of an upload costs a second command, and no document twice", async () => {
  const files = pages(0, 60);
  const rules = [{ when: { ...ingestion, after: 20 }, do: "reset-before-store" as const }];
  const first = await startTestService({ files, dialect: "onyx", faults: { rules } });

  // The connection breaks for good after twenty documents.
  const broken = await run(first, "ingest docs --cc-pair-id 2");
  expect(broken.code).toBe(5);
  expect(broken.stderr).toMatch(
    /^stopped: 20 created.* · Handbook uploads \(pair 2\) at \S+, profile default$/m,
  );
  expect(broken.stderr).toContain(
    "20 of 60 documents sent and recorded; run the same command again to continue",
  );

  // Meanwhile somebody removes a file, and wants it out of the service: not before all is sent.
  const sent = takenBy(first.sandbox);
  const [gone = ""] = Object.keys(sent);
  rmSync(join(first.folder, gone));
  const early = await run(first, "prune docs --yes");
  expect(early.code).toBe(2);
  expect(early.stderr).toContain("nothing was removed");

  // The service is back. The target is remembered, and only what is missing is sent.
  const second = await startAgain(first, { dialect: "onyx" });
  const again = await run(second, "ingest docs");
  expect(again.code).toBe(0);
  expect(again.stderr).toContain("no target given: using pair 2");
  const once = Object.fromEntries(Object.keys(files).map((id) => [id, 1]));
  const sentLater = takenBy(second.sandbox);
  expect(Object.keys(sent).filter((id) => id in sentLater)).toEqual([]);
  expect({ ...sent, ...sentLater }).toEqual(once);

  // Now the removed file may go; what the service holds is what the folder holds.
  const last = await run(second, "prune docs --yes");
  expect(last.code).toBe(0);
  const listed = await run(second, "api GET /api/onyx-api/ingestion --jq .[].document_id");
  const held = listed.stdout
    .trim()
    .split("\n")
    .map((each) => decodeURIComponent(each.replaceAll('"', "")));
  const left = Object.keys(files).filter((id) => id !== gone);
  expect(held.toSorted()).toEqual(left.toSorted());
});
