import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestService } from "../service.ts";
import { startTalk } from "../commands/chat/conversation/talking.ts";
import { run, takenBy } from "./support.ts";

const files = {
  "docs/leave.md": "# Leave\n\nAsk your manager for leave two weeks ahead.\n",
  "docs/rooms.md": "# Rooms\n\nThe big room seats twelve people.\n",
};

it("a conversation with files: asked, cited, saved, left and continued", async () => {
  const service = await startTestService({ files, dialect: "onyx" });
  const { sandbox, folder, env } = service;
  const asked = (): Record<string, unknown> => sandbox.ledger.chats.at(-1) ?? {};

  // The handbook is in the service, and a note of one's own is not.
  const upload = await run(service, "ingest docs --cc-pair-id 2");
  expect(upload.stderr).toContain("next: ask about the documents with `knowctl chat");
  await sandbox.idle();
  writeFileSync(join(folder, "trip.md"), "# Trip\n\nLeave on Friday, back on Monday.\n");

  // A question: the answer cites a document, and names its file on this disk.
  const talk = await startTalk({ env, home: folder });
  const answer = await talk.enter("How far ahead do I ask for leave?");
  expect(answer).toContain("Ask your manager for leave two weeks ahead.");
  expect(answer).toMatch(/Sources\r?\n +\[1\] Leave +docs\/leave\.md/);

  // A file goes along with one question, and with no later one.
  expect(await talk.enter("/file nosuch.md")).toMatch(/error: [^]*nosuch\.md/);
  expect(await talk.enter("/file trip.md")).toContain("attached to the next question: trip.md");
  await talk.enter("Does my trip need leave?");
  expect(asked()["file_descriptors"]).toMatchObject([{ name: "trip.md" }]);
  await talk.enter("And how many people fit the big room?");
  expect(asked()).not.toHaveProperty("file_descriptors");

  // The answer and the whole conversation are kept as files.
  expect(await talk.enter("/save room.md")).toContain("room.md");
  expect(readFileSync(join(folder, "room.md"), "utf8")).toContain("twelve people");
  await talk.enter("/save all talk.md");
  const saved = readFileSync(join(folder, "talk.md"), "utf8");
  expect(saved).toContain("> How far ahead do I ask for leave?");
  expect(saved).toContain("> Does my trip need leave?");

  // Ctrl-D ends it and says how to go on; that command goes on in the same session.
  talk.press("\u0004");
  expect(await talk.done).toBe(0);
  expect(talk.screen()).toContain("`knowctl chat --continue`");
  const next = await run(service, "chat --continue leave");
  expect(next.code).toBe(0);
  expect(next.stdout).toContain("Ask your manager for leave");
  const sessions = new Set(sandbox.ledger.chats.slice(1).map((each) => each["chat_session_id"]));
  expect(sessions.size).toBe(1);

  // The service holds the handbook and one session of four questions; the note is no document.
  expect(takenBy(sandbox)).toEqual({ "docs/leave.md": 1, "docs/rooms.md": 1 });
  const listed = await run(service, "sessions list --json --jq length");
  expect(listed.stdout.trim()).toBe("1");
  expect(sandbox.ledger.chats).toHaveLength(4);
  expect(existsSync(join(folder, "trip.md"))).toBe(true);
});
