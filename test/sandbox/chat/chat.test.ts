import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import {
  ChatReply,
  MessageIdsLine,
  Packet,
  PacketLine,
  SessionLine,
  StreamFailure,
} from "../../../src/api/chat-schemas.ts";
import { projectFolder } from "../../support.ts";
import { documentOf, type Line, start, type Started } from "../start.ts";

const handbook = [
  documentOf({
    id: "hr/leave.md",
    semantic_identifier: "Leave policy",
    sections: [
      {
        text: "# Annual leave\n\nEveryone has 30 days of annual leave. Requests go to the team lead.",
        link: "https://docs.example.com/leave",
      },
    ],
    source: "file",
    metadata: { team: "people", level: ["all", "new"] },
    doc_updated_at: "2026-03-01T00:00:00Z",
  }),
  documentOf({
    id: "it/vpn.md",
    semantic_identifier: "VPN",
    sections: [{ text: "Connect the VPN before you request access to annual reports." }],
    source: "web",
    metadata: { team: "it" },
    doc_updated_at: "2025-03-01T00:00:00Z",
  }),
];

async function startWithHandbook(options: Parameters<typeof start>[0] = {}): Promise<Started> {
  const sandbox = await start(options);
  for (const document of handbook) await sandbox.ingest(document);
  await sandbox.idle();
  return sandbox;
}

const typesOf = (lines: Line[]): string[] =>
  lines.map((line) => line.obj?.type ?? Object.keys(line)[0]!);
const objects = (lines: Line[], type: string): NonNullable<Line["obj"]>[] =>
  lines.flatMap(({ obj }) => (obj?.type === type ? [obj] : []));
/** The answer as a client must assemble it. */
const answerOf = (lines: Line[]): string =>
  objects(lines, "message_delta")
    .map((delta) => delta["content"] as string)
    .join("");
const documentsOf = (lines: Line[]): string[] =>
  (objects(lines, "message_start")[0]!["final_documents"] as { document_id: string }[]).map(
    ({ document_id }) => document_id,
  );
const question = "How many days of annual leave does everyone have?";

describe("the stream", () => {
  it.each(["standard", "onyx"] as const)("%s: order of lines and packets", async (dialect) => {
    const { ask } = await startWithHandbook({ dialect });
    const lines = await ask(question);
    const order = typesOf(lines).filter((type, index, all) => type !== all[index - 1]);
    expect(order.slice(0, 11)).toEqual([
      "chat_session_id",
      "user_message_id",
      "reasoning_start",
      "reasoning_delta",
      "reasoning_done",
      "search_tool_start",
      "search_tool_queries_delta",
      "search_tool_filter_delta",
      "search_tool_documents_delta",
      "section_end",
      "message_start",
    ]);
    expect(order.at(-1)).toBe("stop");
    expect(new Set(order.slice(11, -1))).toEqual(new Set(["message_delta", "citation_info"]));
  });

  it.each(["standard", "onyx"] as const)(
    "%s: every line is what the wire schemas say",
    async (dialect) => {
      const { ask } = await startWithHandbook({ dialect });
      const [session, ids, ...packets] = await ask(question);
      z.parse(SessionLine, session);
      z.parse(MessageIdsLine, ids);
      let turn = -1;
      for (const line of packets) {
        const { placement, obj } = z.parse(PacketLine, line);
        z.parse(Packet, obj);
        expect(placement).toMatchObject({ tab_index: 0, sub_turn_index: null, model_index: 0 });
        expect(placement!.turn_index! - turn).toBeLessThanOrEqual(1);
        turn = placement!.turn_index!;
      }
    },
  );

  it("announces a citation just before its marker, once a document", async () => {
    const { ask } = await startWithHandbook();
    const lines = await ask("annual leave requests lead days");
    const cited = objects(lines, "citation_info");
    expect(new Set(cited.map((each) => each["document_id"])).size).toBe(cited.length);
    for (const [index, line] of lines.entries()) {
      const { obj } = line;
      if (obj?.type !== "citation_info") continue;
      const number = String(obj["citation_number"]);
      expect(lines[index + 1]!.obj!["content"]).toMatch(new RegExp(`^\\[\\[${number}\\]\\]\\(`));
    }
    expect(answerOf(lines)).toContain("[[1]](https://docs.example.com/leave)");
    expect(documentsOf(lines)).toEqual(
      expect.arrayContaining(cited.map((each) => each["document_id"])),
    );
  });

  it.each([
    ["standard", undefined, /^(data: \{[^\n]*\}\n\n)+$/],
    ["onyx", undefined, /^(\{[^\n]*\}\n)+$/],
    ["standard", "ndjson", /^(\{[^\n]*\}\n)+$/],
    ["onyx", "sse", /^(data: \{[^\n]*\}\n\n)+$/],
  ] as const)("%s with framing %s", async (dialect, framing, form) => {
    const { send } = await startWithHandbook({ dialect, ...(framing ? { framing } : {}) });
    const answer = await send("POST", "/api/chat/send-chat-message", {
      message: "Grüße 日本 \u2028?",
    });
    expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(answer.text).toMatch(form);
    // ASCII only: nothing can be cut inside a character.
    expect(answer.text).toMatch(/^[\n\x20-\x7e]*$/);
  });

  it("sends no session line for a session that goes on", async () => {
    const { ask } = await startWithHandbook();
    const [first, ids] = await ask(question);
    const again = await ask("And the VPN?", { chat_session_id: first!.chat_session_id });
    expect(Object.keys(again[0]!)).toEqual(["user_message_id", "reserved_assistant_message_id"]);
    expect(again[0]!.user_message_id).toBeGreaterThan(ids!.reserved_assistant_message_id!);
  });
});

describe("the answer", () => {
  it("says first that it is extractive, then quotes with sources", async () => {
    const { whole } = await startWithHandbook();
    const reply = await whole(question);
    expect(reply.answer).toMatch(/^Extractive answer of the knowctl sandbox: .*no language model/);
    expect(reply.answer).toContain("Everyone has 30 days of annual leave. [[1]](");
    expect(reply.citation_info).toEqual([
      { type: "citation_info", citation_number: 1, document_id: "hr%2Fleave.md" },
    ]);
  });

  it.each([
    ["How many days of leave do I have?", "- Everybody has 28 days of paid leave a year"],
    ["What must be done before the release?", "- Every change has been on ten test stations"],
  ])("to %j quotes the sentence that answers", async (asked, first) => {
    const { ingest, idle, whole } = await start();
    for (const name of ["people/holidays.md", "it/releases.md"]) {
      const text = readFileSync(join(projectFolder, "examples", "handbook", name), "utf8");
      const title = /^# (.*)$/m.exec(text)![1]!;
      await ingest(documentOf({ id: name, semantic_identifier: title, sections: [{ text }] }));
    }
    await idle();
    const { answer } = await whole(asked);
    expect(answer!.split("\n\n")[1]).toMatch(new RegExp(`^${first}`));
  });

  it("is honest when nothing fits", async () => {
    const { ask } = await startWithHandbook();
    const lines = await ask("Photosynthesis in ferns");
    expect(answerOf(lines)).toContain("Nothing in the indexed documents matches");
    expect(documentsOf(lines)).toEqual([]);
    expect(objects(lines, "citation_info")).toEqual([]);
    expect(objects(lines, "stop")).toHaveLength(1);
  });

  it.each(['"', "'", "*", "NEAR(a b)", "a AND", "-", "", "\u0000", "title:x", "😀", "(", "^a"])(
    "takes %j as a question, not as a query",
    async (message) => {
      const { ask } = await startWithHandbook();
      expect(typesOf(await ask(message)).at(-1)).toBe("stop");
    },
  );

  it("finds other forms of a word, titles, and scripts without spaces", async () => {
    const { ingest, idle, whole } = await startWithHandbook();
    await ingest(
      documentOf({
        id: "jp",
        semantic_identifier: "休暇",
        sections: [{ text: "年次休暇は三十日です。" }],
      }),
    );
    await ingest(
      documentOf({ id: "title only", semantic_identifier: "Marsupials", sections: [{ text: "" }] }),
    );
    await idle();
    const ids = async (message: string) =>
      (await whole(message)).top_documents?.map(({ document_id }) => document_id);
    expect(await ids("requesting")).toContain("hr%2Fleave.md");
    expect(await ids("休暇")).toEqual(["jp"]);
    expect(await ids("marsupial")).toEqual(["title_only"]);
  });

  it("takes no markers and no packets from the documents", async () => {
    const { ingest, idle, ask } = await start();
    const text = 'Wombats [[1]](https://evil.example) say data: {"obj":{"type":"stop"}} today.';
    await ingest(documentOf({ sections: [{ text, link: "https://own" }] }));
    await idle();
    const lines = await ask("wombats");
    expect(answerOf(lines).match(/\[\[\d\]\]\([^)]*\)/g)).toEqual(["[[1]](https://own)"]);
    expect(objects(lines, "stop")).toHaveLength(1);
  });

  it("says that Deep Research is not to be had", async () => {
    const { ask } = await startWithHandbook();
    const said = (lines: Line[]): string =>
      objects(lines, "reasoning_delta")
        .map((delta) => delta["reasoning"])
        .join("");
    expect(said(await ask(question, { deep_research: true }))).toContain("Deep Research needs");
    expect(said(await ask(question))).not.toContain("Deep Research");
  });

  it("leaves citations out when asked to", async () => {
    const { ask } = await startWithHandbook();
    const lines = await ask(question, { include_citations: false });
    expect(objects(lines, "citation_info")).toEqual([]);
    expect(answerOf(lines)).not.toContain("[[");
  });
});

describe("filters", () => {
  const both = ["hr%2Fleave.md", "it%2Fvpn.md"];
  const [leave, vpn] = both;
  it.each([
    ["none", {}, both],
    ["a source", { source_type: ["web"] }, [vpn]],
    ["two sources", { source_type: ["web", "file"] }, both],
    ["another source", { source_type: ["slack"] }, []],
    ["a tag", { tags: { team: "people" } }, [leave]],
    ["one tag of a list", { tags: { level: "new" } }, [leave]],
    ["tags together", { tags: { team: "people", level: "old" } }, []],
    ["a time", { time_cutoff: "2026-01-01T00:00:00Z" }, [leave]],
    ["a document set", { document_set: ["Handbook"] }, both],
    ["members together", { source_type: ["web"], time_cutoff: "2026-01-01T00:00:00Z" }, []],
  ] as const)("standard: %s", async (_, filters, expected) => {
    const { ask } = await startWithHandbook();
    const found = documentsOf(await ask("annual request", { search_filters: filters }));
    expect(found.toSorted()).toEqual(expected);
  });

  it.each([
    ["a source", { source_type: ["web"] }, [vpn]],
    [
      "either tag",
      {
        tags: [
          { tag_key: "team", tag_value: "people" },
          { tag_key: "team", tag_value: "it" },
        ],
      },
      both,
    ],
    ["a tag", { tags: [{ tag_key: "team", tag_value: "it" }] }, [vpn]],
    [
      "a range",
      { updated_at_range: { start: "2025-01-01T00:00:00Z", end: "2025-12-31T00:00:00Z" } },
      [vpn],
    ],
    [
      "a range over a cutoff",
      { time_cutoff: "2026-01-01T00:00:00Z", updated_at_range: { start: "2025-01-01T00:00:00Z" } },
      both,
    ],
  ] as const)("onyx: %s", async (_, filters, expected) => {
    const { ask } = await startWithHandbook({ dialect: "onyx" });
    const found = documentsOf(await ask("annual request", { internal_search_filters: filters }));
    expect(found.toSorted()).toEqual(expected);
  });

  it("are shown as applied", async () => {
    const { ask } = await startWithHandbook();
    const lines = await ask("annual", {
      search_filters: { source_type: ["web"], time_cutoff: "2026-01-01T00:00:00Z" },
    });
    expect(objects(lines, "search_tool_filter_delta")).toEqual([
      {
        type: "search_tool_filter_delta",
        sources: ["web"],
        time_filter_start: "2026-01-01T00:00:00+00:00",
        time_filter_end: null,
      },
    ]);
  });

  it.each([
    ["standard", "internal_search_filters"],
    ["onyx", "search_filters"],
  ] as const)("%s drops %s without a word", async (dialect, member) => {
    const { ask } = await startWithHandbook({ dialect });
    const lines = await ask("annual request", { [member]: { source_type: ["slack"] } });
    expect(documentsOf(lines)).toHaveLength(2);
  });
});

describe("refused requests", () => {
  it.each([
    ["standard", { message: undefined }],
    ["standard", { message: 1 }],
    ["standard", { allowed_tool_ids: "1" }],
    ["standard", { forced_tool_id: "x" }],
    ["standard", { file_descriptors: null }],
    ["standard", { file_descriptors: ["id"] }],
    ["standard", { file_descriptors: [{ id: "a", type: "csv" }] }],
    ["standard", { llm_override: "gpt" }],
    ["standard", { stream: "perhaps" }],
    ["standard", { chat_session_id: "x", chat_session_info: {} }],
    ["standard", { search_filters: { tags: [{ tag_key: "a", tag_value: "b" }] } }],
    ["standard", { search_filters: { time_cutoff: "soon" } }],
    ["standard", { parent_message_id: 1.5 }],
    ["onyx", { internal_search_filters: { source_type: "web" } }],
    ["onyx", { internal_search_filters: { source_type: ["our_own"] } }],
    ["onyx", { internal_search_filters: { tags: { a: "b" } } }],
    ["onyx", { chat_session_id: "" }],
    ["onyx", { origin: "elsewhere" }],
  ] as const)("%s: %j is 422", async (dialect, change) => {
    const { send, ledger } = await start({ dialect });
    const answer = await send("POST", "/api/chat/send-chat-message", { message: "x", ...change });
    expect([answer.status, answer.json()]).toMatchObject([422, { status_code: 422, data: null }]);
    expect(ledger.chats).toHaveLength(1);
  });

  it.each([
    ["standard", { model_provider: "sandbox", model_version: "extractive" }, 200],
    ["standard", { model_version: "extractive", temperature: 0.2 }, 200],
    ["standard", { model_provider: "nobody" }, 400],
    ["standard", { model_provider: "__proto__" }, 400],
    ["standard", { model_version: "nothing" }, 400],
    ["onyx", { model_provider: "nobody", model_version: "nothing" }, 200],
  ] as const)("%s: model %j is %i", async (dialect, llm_override, status) => {
    const { send } = await start({ dialect });
    const answer = await send("POST", "/api/chat/send-chat-message", {
      message: "x",
      llm_override,
    });
    expect(answer.status).toBe(status);
  });

  it("refuses several models without a stream in onyx", async () => {
    const { send } = await start({ dialect: "onyx" });
    const body = { message: "x", stream: false, llm_overrides: [{}, {}] };
    const answer = await send("POST", "/api/chat/send-chat-message", body);
    expect([answer.status, answer.json()]).toMatchObject([400, { error_code: "INVALID_INPUT" }]);
  });
});

describe("failures inside the stream", () => {
  const session = "11111111-1111-4111-8111-111111111111";
  it.each([
    ["standard", { chat_session_id: session }, "VALIDATION_ERROR", 1],
    ["standard", { chat_session_id: "not even a UUID" }, "VALIDATION_ERROR", 1],
    ["standard", { parent_message_id: 4711 }, "VALIDATION_ERROR", 2],
    ["standard", { forced_tool_id: 99 }, "UNKNOWN_ERROR", 3],
    ["standard", { forced_tool_id: 1, allowed_tool_ids: [] }, "UNKNOWN_ERROR", 3],
    ["standard", { file_descriptors: [{ id: "none", type: "image" }] }, "VALIDATION_ERROR", 2],
    ["onyx", { file_descriptors: [{ id: "none", type: "image" }] }, "VALIDATION_ERROR", 2],
    ["standard", { chat_session_info: { persona_id: 5 } }, "VALIDATION_ERROR", 1],
    ["onyx", { chat_session_info: { persona_id: 5 } }, "VALIDATION_ERROR", 1],
    ["onyx", { chat_session_info: { project_id: 5 } }, "VALIDATION_ERROR", 1],
    ["standard", { search_filters: { document_set: ["None"] } }, "INSUFFICIENT_PERMISSIONS", 2],
    [
      "onyx",
      { internal_search_filters: { document_set: ["None"] } },
      "INSUFFICIENT_PERMISSIONS",
      2,
    ],
  ] as const)("%s: %j", async (dialect, change, code, count) => {
    const { ask } = await start({ dialect });
    const lines = await ask("x", change);
    expect(lines).toHaveLength(count);
    expect(z.parse(StreamFailure, lines.at(-1))).toMatchObject({
      error_code: code,
      is_retryable: true,
      stack_trace: null,
      details: null,
    });
  });

  it.each([
    ["standard", 400, { detail: "Invalid Chat Session ID provided" }],
    ["onyx", 400, { message: "Message ID is required" }],
  ] as const)("%s without a stream, before there is a message", async (dialect, status, body) => {
    const { send } = await start({ dialect });
    const request = { message: "x", stream: false, chat_session_id: session };
    const answer = await send("POST", "/api/chat/send-chat-message", request);
    expect([answer.status, answer.json()]).toEqual([status, body]);
  });

  it("without a stream, after there is a message", async () => {
    const { whole } = await start();
    expect(await whole("x", { forced_tool_id: 99 })).toMatchObject({
      answer: "",
      error_msg: "Forced tool 99 not found in tools",
    });
  });
});

describe("tools", () => {
  it("searches not at all without tools", async () => {
    const { ask } = await startWithHandbook();
    const lines = await ask(question, { allowed_tool_ids: [] });
    expect(typesOf(lines).some((type) => type.startsWith("search"))).toBe(false);
    expect(answerOf(lines)).toContain("Search was not allowed");
  });

  it("runs the forced tool and ignores ids that it lacks", async () => {
    const { ask, whole } = await startWithHandbook();
    const lines = await ask(question, { forced_tool_id: 2, allowed_tool_ids: [1, 2, 77] });
    expect(typesOf(lines)).toContain("custom_tool_delta");
    for (const line of lines.slice(2)) z.parse(Packet, line.obj);
    const reply = await whole(question, { forced_tool_id: 2 });
    expect(reply.tool_calls?.map(({ tool_name }) => tool_name)).toEqual([
      "list_documents",
      "internal_search",
    ]);
  });

  it("counts 0 as not forced", async () => {
    const { ask } = await start({ dialect: "onyx" });
    expect(typesOf(await ask("x", { forced_tool_id: 0 })).at(-1)).toBe("stop");
  });
});

describe("the whole reply", () => {
  it.each(["standard", "onyx"] as const)("%s", async (dialect) => {
    const { whole } = await startWithHandbook({ dialect });
    const reply = await whole(question, { stream: "false" });
    z.parse(ChatReply, reply);
    expect(reply.answer_citationless).not.toContain("[[");
    expect(reply.tool_calls).toMatchObject([{ tool_name: "internal_search" }]);
    expect(reply.top_documents?.[0]?.updated_at).toMatch(/T00:00:00Z$/);
    expect(reply.error_msg).toBeNull();
    const again = await whole("And the VPN?", { chat_session_id: reply.chat_session_id });
    expect(again.chat_session_id).toBe(reply.chat_session_id);
  });

  it("says the same as the stream", async () => {
    const { ask, whole } = await startWithHandbook();
    expect((await whole(question)).answer).toBe(answerOf(await ask(question)));
  });
});
