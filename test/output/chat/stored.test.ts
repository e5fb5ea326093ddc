import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { StoredSession, type StoredMessage } from "../../../src/api/session-schemas.ts";
import { sessionMarkdown } from "../../../src/output/chat/stored/session-record.ts";
import { answerState, branchesOf, turnOfStored } from "../../../src/output/chat/stored/stored.ts";
import { writeTranscript } from "../../../src/output/chat/stored/transcript.ts";
import { createOutput } from "../../../src/output/terminal/output.ts";
import { createTestContext } from "../../support.ts";

const session = StoredSession.parse(
  JSON.parse(
    readFileSync(new URL("../../fixtures/wire/stored-session.json", import.meta.url), "utf8"),
  ),
);

function message(id: number, over: Partial<StoredMessage> = {}): StoredMessage {
  return {
    message_id: id,
    parent_message: null,
    latest_child_message: null,
    message: `text ${id}`,
    message_type: "user",
    ...over,
  };
}

function shapeOf(messages: StoredMessage[]) {
  return branchesOf({ ...session, messages }).map((branch) => ({
    parent: branch.parent,
    ids: branch.messages.map(({ message_id }) => message_id),
  }));
}

const link = (id: number, parent: number | null, child: number | null) =>
  message(id, { parent_message: parent, latest_child_message: child });

describe("branchesOf", () => {
  it("follows the latest children and tells the rest apart", () => {
    expect(shapeOf(session.messages)).toEqual([
      { parent: null, ids: [2, 4, 5, 6] },
      { parent: 2, ids: [3] },
    ]);
  });

  it.each([
    ["no message", [], [{ parent: null, ids: [] }]],
    ["the root left out", [link(5, 1, 6), link(6, 5, null)], [{ parent: 1, ids: [5, 6] }]],
    [
      "two roots: the later is current",
      [link(5, null, null), link(7, null, null)],
      [
        { parent: null, ids: [7] },
        { parent: null, ids: [5] },
      ],
    ],
    ["a message that is its own child", [link(1, null, 1)], [{ parent: null, ids: [1] }]],
    [
      "a cycle without a root",
      [link(1, 2, 2), link(2, 1, 1)],
      [
        { parent: null, ids: [] },
        { parent: 2, ids: [1, 2] },
      ],
    ],
    ["a child that is not listed", [link(1, null, 99)], [{ parent: null, ids: [1] }]],
  ])("takes each message once: %s", (_name, messages, shape) => {
    expect(shapeOf(messages)).toEqual(shape);
  });

  it("takes time that grows with the number of messages, not faster", () => {
    const messages = Array.from({ length: 50_000 }, (_, at) => link(at, at - 1, at + 1));
    expect(shapeOf(messages)[0]?.ids).toHaveLength(50_000);
  });
});

describe("answerState", () => {
  it.each([
    ["complete", message(1)],
    ["missing", session.messages.at(-1)!],
    ["missing", message(1, { message: "Response was terminated prior to completion" })],
    ["failed", message(1, { message: "", error: "no quota" })],
    // Text that quotes the sentence is an answer.
    ["complete", message(1, { message: "It said: Response was terminated prior to completion" })],
  ])("%s", (state, given) => {
    expect(answerState(given)).toBe(state);
  });
});

describe("turnOfStored", () => {
  it("is the turn that the answer was", () => {
    const turn = turnOfStored(session, session.messages[3]!);
    expect(turn).toMatchObject({
      sessionId: session.chat_session_id,
      userMessageId: 2,
      messageId: 4,
      model: "large",
      stopped: true,
      failure: null,
    });
    expect([...turn.citations]).toEqual([
      [1, "leave"],
      [2, "sick"],
    ]);
    expect([...turn.documents.keys()]).toEqual(["leave", "sick", "other"]);
  });

  it("holds no placeholder for an answer", () => {
    const turn = turnOfStored(session, session.messages.at(-1)!);
    expect(turn).toMatchObject({ answer: "", stopped: false });
  });
});

async function transcript(options: { isTTY?: boolean; all?: boolean; columns?: number } = {}) {
  const context = createTestContext({
    isTTY: options.isTTY === true,
    columns: options.columns ?? 80,
  });
  await writeTranscript(createOutput(context), session, branchesOf(session), {
    name: session.description!,
    now: () => Date.UTC(2026, 0, 1, 9),
    all: options.all === true,
    sources: true,
    localFiles: new Map(),
    render: "auto",
  });
  return { stdout: context.stdoutText(), stderr: context.stderrText() };
}

describe("a transcript", () => {
  it("shows the current branch and counts the rest", async () => {
    const { stdout, stderr } = await transcript();
    expect(stdout).toBe(`Leave ^[]0;owned^Gin <U+202E>summer # not a heading
session 6f1c2f0e-8c57-4b7c-9f27-3a2f9f3b1a11 · agent Handbook <b>agent</b> · 4 messages

You · 2026-01-01T08:00:00Z
How do I request leave?
I am ^[[31mnew^[[0m here.
files: plan^[[2J.pdf

Assistant · 2026-01-01T08:00:02Z · large
Ask your manager [[1]](https://docs.example.com/leave). Two weeks ahead [2].

Sources
  [1] Leave [policy]  https://docs.example.com/leave
  [2] Sick leave

You · 2026-01-01T08:01:00Z
And then?

Assistant · 2026-01-01T08:01:00Z
(the answer is not stored: it was cut)
`);
    expect(stderr).toBe("1 more message in 1 other branch (--all shows them)\n");
  });

  it("shows the other branches with --all", async () => {
    const { stdout } = await transcript({ all: true });
    expect(stdout).toContain("── other branch 1, from message 2 ──\n\nAssistant");
    expect(stdout).toContain("The first try.");
  });

  it("has short markers and relative times on a terminal, and nothing of the service's controls it", async () => {
    const { stdout } = await transcript({ isTTY: true });
    expect(stdout).toContain("59 minutes ago");
    // What people typed keeps its lines.
    expect(stdout).toContain("How do I request leave?\nI am");
    expect(stdout).toMatch(/manager .*\[1\].*\. Two weeks ahead \[2\]\./);
    // Of ours are styles and links alone.
    const rest = stdout.replace(/\u001b\[\d+m|\u001b\]8;;[^\u001b]*\u001b\\/g, "");
    expect(rest).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e]/);
  });
});

describe("the Markdown of a session", () => {
  const text = (all: boolean) =>
    [...sessionMarkdown(session, branchesOf(session), session.description!, all)].join("");

  it("has a heading a message, sources and files, and no markup from names", () => {
    expect(text(false)).toBe(`# Leave ^\\[\\]0;owned^Gin \\<U\\+202E\\>summer \\# not a heading

- session: 6f1c2f0e-8c57-4b7c-9f27-3a2f9f3b1a11
- agent: Handbook \\<b\\>agent\\</b\\>
- started: 2026-01-01T08:00:00Z

## You · 2026-01-01T08:00:00Z

How do I request leave?
I am ^[[31mnew^[[0m here.

Files: plan^\\[\\[2J.pdf

## Assistant · 2026-01-01T08:00:02Z · large

Ask your manager [[1]](https://docs.example.com/leave). Two weeks ahead \\[2\\].

Sources:

- \\[1\\] [Leave \\[policy\\]](<https://docs.example.com/leave>)
- \\[2\\] Sick leave

## You · 2026-01-01T08:01:00Z

And then?

## Assistant · 2026-01-01T08:01:00Z

*(no answer is stored: it was cut)*
`);
  });

  it("adds the other branches", () => {
    expect(text(true)).toContain("\n---\n\n*Other branch 1 from message 2*\n\n## Assistant");
  });
});
