import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import {
  completionsUrl,
  askModel,
  type ModelServer,
} from "../../../src/sandbox/chat/model/client.ts";
import { answerOf, begin, chunk, event, startLlmServer } from "./llm-server.ts";

const never = new AbortController().signal;
const key = "CANARY-model-key";
const question = { model: "m", temperature: undefined, messages: [] };

function serverAt(url: string, more: Partial<ModelServer> = {}): ModelServer {
  return { url: completionsUrl(url), key, model: "m", idleMs: 60_000, ...more };
}

interface Heard {
  text: string;
  reasoning: string;
  /** Code and words of the failure. */
  failure?: string;
}

async function hear(server: ModelServer, signal = never): Promise<Heard> {
  const heard: Heard = { text: "", reasoning: "" };
  try {
    for await (const { kind, text } of askModel(server, question, signal)) heard[kind] += text;
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    heard.failure = `${code}: ${message}`;
  }
  return heard;
}

async function hearFrom(answer: (response: ServerResponse) => unknown): Promise<Heard> {
  return await hear(serverAt((await startLlmServer(answer)).url));
}

const streamed =
  (text: string, type?: string) =>
  (response: ServerResponse): unknown =>
    begin(response, type).end(text);

describe("the address", () => {
  it.each([
    ["http://127.0.0.1:11434", "http://127.0.0.1:11434/v1/chat/completions"],
    ["http://127.0.0.1:11434/", "http://127.0.0.1:11434/v1/chat/completions"],
    ["http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1/chat/completions"],
    ["https://api.example.com/openai/v1/", "https://api.example.com/openai/v1/chat/completions"],
    ["https://h.example/v1beta/openai", "https://h.example/v1beta/openai/chat/completions"],
    ["https://h.example/llm", "https://h.example/llm/v1/chat/completions"],
    ["https://h.example/v1/chat/completions", "https://h.example/v1/chat/completions"],
    ["https://h.example/v1?api-version=2#x", "https://h.example/v1/chat/completions?api-version=2"],
  ])("%s", (base, expected) => {
    expect(completionsUrl(base).href).toBe(expected);
  });

  it.each(["", "localhost:1", "ftp://h", "file:///etc", "http://user:secret@h", "http://", "x"])(
    "refuses %j and repeats no secret",
    (base) => {
      try {
        completionsUrl(base);
      } catch (error) {
        expect(error).toMatchObject({ exit: "usage" });
        return expect(String(error)).not.toContain("secret@");
      }
      throw new Error("was taken");
    },
  );
});

describe("an answer", () => {
  const text = "Grüße, 日本 😀\nand more";
  const plain = answerOf(text.slice(0, 5), text.slice(5));

  it.each([1, 2, 3, 7, 64, 100_000])("in network chunks of %i bytes", async (size) => {
    for (const form of [plain, plain.replaceAll("\n", "\r\n")]) {
      const bytes = Buffer.from(form);
      const { url } = await startLlmServer(async (response) => {
        begin(response);
        for (let at = 0; at < bytes.length; at += size) {
          await new Promise<void>((done) => {
            response.write(bytes.subarray(at, at + size), () => done());
          });
        }
        response.end();
      });
      expect(await hear(serverAt(url))).toEqual({ text, reasoning: "" });
    }
  });

  it.each([
    ["with comments and other fields", `: hi\nevent: x\nid: 1\nretry: 5\n${answerOf("ok")}`],
    ["without a space after the colon", answerOf("ok").replaceAll("data: ", "data:")],
    ["without [DONE]", event(chunk({ content: "ok" }, "stop"))],
    ["without a finish reason", event(chunk({ content: "ok" })) + event("[DONE]")],
    [
      "with a last line that nothing ends",
      `data: ${JSON.stringify(chunk({ content: "ok" }, "stop"))}`,
    ],
    [
      "over several data lines",
      `data: {"choices":[{"delta":\ndata: {"content":"ok"}}]}\n\n${event("[DONE]")}`,
    ],
    [
      "as bare JSON lines",
      [chunk({ content: "o" }), chunk({ content: "k" }, "stop")]
        .map((each) => `${JSON.stringify(each)}\n`)
        .join(""),
    ],
    ["with nothing read after [DONE]", answerOf("ok") + event("garbage")],
    [
      "with calls of tools",
      event(chunk({ tool_calls: [{ function: { name: "x", arguments: "{}" } }] })) + answerOf("ok"),
    ],
    [
      "in parts",
      event(
        chunk({
          content: [
            { type: "text", text: "o" },
            { type: "text", text: "k" },
          ],
        }),
      ) + event("[DONE]"),
    ],
    [
      "with nulls in every place",
      [
        { choices: null },
        { choices: [null] },
        { choices: [{ delta: null }] },
        null,
        chunk({ content: null }),
      ]
        .map(event)
        .join("") + answerOf("ok"),
    ],
  ])("%s", async (_, body) => {
    expect(await hearFrom(streamed(body))).toEqual({ text: "ok", reasoning: "" });
  });

  it("that is not streamed", async () => {
    const whole = {
      choices: [{ message: { content: "ok", reasoning: "hm" }, finish_reason: "stop" }],
    };
    const body = JSON.stringify(whole, null, 2);
    expect(await hearFrom(streamed(body, "application/json"))).toEqual({
      text: "ok",
      reasoning: "hm",
    });
  });

  it.each([
    ["reasoning_content", [chunk({ reasoning_content: "h" }), chunk({ reasoning_content: "m" })]],
    ["reasoning", [chunk({ reasoning: "hm" })]],
    [
      "thoughts as parts",
      [chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] })],
    ],
    [
      "a block in the text",
      ["<thi", "nk>h", "m</th", "ink>\n\n"].map((content) => chunk({ content })),
    ],
  ])("with reasoning as %s", async (_, chunks) => {
    const body = chunks.map(event).join("") + answerOf("o", "k");
    expect(await hearFrom(streamed(body))).toEqual({ text: "ok", reasoning: "hm" });
  });

  it.each(["<thin", "<", "a <think>b</think>", "<thinker>"])(
    "keeps %j, which is no reasoning",
    async (said) => {
      expect(await hearFrom(streamed(answerOf(...said)))).toEqual({ text: said, reasoning: "" });
    },
  );
});

describe("the request", () => {
  it("has the question, the key, and no more", async () => {
    const { url, requests } = await startLlmServer((response) => response.end(answerOf("ok")));
    const messages = [{ role: "user" as const, content: "Hé?" }];
    for await (const _ of askModel(
      serverAt(url),
      { model: "big", temperature: 0.2, messages },
      never,
    ));
    await hear(serverAt(url, { key: undefined }));
    expect(requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      ["POST", "/v1/chat/completions", { model: "big", temperature: 0.2, messages, stream: true }],
      ["POST", "/v1/chat/completions", { model: "m", messages: [], stream: true }],
    ]);
    expect(requests.map(({ headers }) => headers.authorization)).toEqual([
      `Bearer ${key}`,
      undefined,
    ]);
  });

  it.each([301, 302, 307, 308])("does not follow a redirect (%i)", async (status) => {
    const other = await startLlmServer((response) => response.end(answerOf("stolen")));
    const heard = await hearFrom((response) => {
      response.writeHead(status, { location: `${other.url}/v1/chat/completions` }).end();
    });
    expect(heard.failure).toMatch(/^API_ERROR: .*redirects are not followed/);
    expect(other.requests).toEqual([]);
  });
});

describe("a failure", () => {
  const openai = (message: string, code?: string) =>
    JSON.stringify({ error: { message, code, type: "x" } });
  it.each([
    [
      401,
      openai(`Incorrect API key provided: ${key}.`),
      /^AUTH_ERROR: .*KNOWCTL_SANDBOX_LLM_KEY.*provided: \*\*\*\./,
    ],
    [403, openai("no"), /^PERMISSION_DENIED: /],
    [404, openai("model 'm' not found"), /^NOT_FOUND: .*model 'm' not found/],
    [429, openai("slow down"), /^RATE_LIMIT: .*slow down/],
    [429, openai("You exceeded your current quota", "insufficient_quota"), /^BUDGET_EXCEEDED: /],
    [402, openai("pay"), /^BUDGET_EXCEEDED: /],
    [400, openai("x", "context_length_exceeded"), /^CONTEXT_TOO_LONG: /],
    [400, openai("This model's maximum context length is 8192 tokens"), /^CONTEXT_TOO_LONG: /],
    [500, openai("the request exceeds the available context size"), /^CONTEXT_TOO_LONG: /],
    [400, openai("x", "content_policy_violation"), /^CONTENT_POLICY: /],
    [400, openai("bad temperature"), /^BAD_REQUEST: .*bad temperature/],
    [413, "", /^REQUEST_TOO_LARGE: /],
    [422, '{"detail":"wrong"}', /^UNPROCESSABLE_ENTITY: .*wrong/],
    [418, '{"error":"teapot"}', /^BAD_REQUEST: .*teapot/],
    [500, "<html>x</html>", /^API_ERROR: The model's server failed \(500\)$/],
    [502, "upstream\n\n is gone", /^API_ERROR: .*upstream is gone/],
    [503, openai("loading model"), /^SERVICE_UNAVAILABLE: .*loading model/],
    [529, "{}", /^SERVICE_UNAVAILABLE: /],
    [500, "x".repeat(10_000_000), /^API_ERROR: .{0,400}…$/],
  ])("status %i with %.60s", async (status, body, expected) => {
    const { failure } = await hearFrom((response) => {
      response.writeHead(status, { "content-type": "application/json" }).end(body);
    });
    expect(failure).toMatch(expected);
    expect(failure).not.toContain(key);
  });

  const start = event(chunk({ content: "partial " }));
  it.each([
    [
      "an error",
      event({ error: { message: "Overloaded", type: "overloaded_error" } }),
      /^SERVICE_UNAVAILABLE: .*Overloaded/,
    ],
    ["an error with a status", event({ error: { message: "slow", code: 429 } }), /^RATE_LIMIT: /],
    ["an error in words", event({ error: `bad API key ${key}` }), /^AUTH_ERROR: .*\*\*\*/],
    ["an error of no known kind", event({ error: {} }), /^API_ERROR: /],
    ["an end", "", /^CONNECTION_ERROR: .*cut off its answer/],
    ["an unfinished event", 'data: {"choices": [{"del', /^API_ERROR: .*not JSON/],
    ["something else", event("<html>"), /^API_ERROR: .*not JSON/],
    ["a line without an end", `data: ${"x".repeat(1_200_000)}`, /^API_ERROR: .*1 MiB/],
    [
      "more than can be meant",
      event(chunk({ content: "y".repeat(900_000) })).repeat(6),
      /^API_ERROR: .*longer/,
    ],
    ["data without end", "data: x\n".repeat(2_000), /^API_ERROR: /],
  ])("%s in the middle keeps what came", async (_, rest, expected) => {
    const heard = await hearFrom(streamed(start + rest));
    expect(heard.text).toMatch(/^partial /);
    expect(heard.failure).toMatch(expected);
    expect(heard.failure).not.toContain(key);
  });

  it("a connection that breaks keeps what came", async () => {
    const heard = await hearFrom((response) => {
      begin(response).write(start, () => response.socket?.resetAndDestroy());
    });
    expect(heard.text).toBe("partial ");
    expect(heard.failure).toMatch(/^CONNECTION_ERROR: /);
  });

  it.each([
    ["no text", answerOf(), /^EMPTY_LLM_RESPONSE: .*empty answer \(finish reason: stop\)/],
    ["blank text", answerOf("\n ", "\n"), /^EMPTY_LLM_RESPONSE: /],
    ["reasoning only", event(chunk({ reasoning: "hm" })) + answerOf(), /^EMPTY_LLM_RESPONSE: /],
    [
      "only calls of tools",
      event(chunk({ tool_calls: [] }, "tool_calls")),
      /^EMPTY_LLM_RESPONSE: .*tool_calls/,
    ],
    [
      "a refusal",
      event(chunk({ refusal: "I can" })) + event(chunk({ refusal: "not" }, "stop")),
      /^MODEL_REFUSAL: I cannot$/,
    ],
    ["a filter", event(chunk({}, "content_filter")), /^CONTENT_POLICY: /],
  ])("%s", async (_, body, expected) => {
    expect((await hearFrom(streamed(body))).failure).toMatch(expected);
  });

  it("a web page with status 200", async () => {
    const heard = await hearFrom(streamed("<html>Sign in</html>", "text/html"));
    expect(heard.failure).toMatch(/^API_ERROR: .*--llm-url/);
  });

  it("nothing that listens", async () => {
    expect((await hear(serverAt("http://127.0.0.1:1"))).failure).toBe(
      "CONNECTION_ERROR: The model's server at http://127.0.0.1:1: nothing listens there",
    );
  });

  it.each(["before the head", "in the middle"])("silence %s", async (when) => {
    const { url } = await startLlmServer((response) => {
      if (when !== "before the head") begin(response).write(start);
    });
    expect((await hear(serverAt(url, { idleMs: 50 }))).failure).toMatch(
      /^CONNECTION_ERROR: .*was silent for 0.05 s/,
    );
  });

  it("ends with the signal", async () => {
    const { url } = await startLlmServer(() => {});
    const abort = new AbortController();
    const heard = hear(serverAt(url), abort.signal);
    abort.abort(new Error("enough"));
    expect((await heard).failure).toBe("undefined: enough");
  });
});
