import { describe, expect, it } from "vitest";
import type { ChatEvent } from "../../../src/api/chat-schemas.ts";
import { document, packet, start, stop, text } from "./lines.ts";
import { type PlayOptions, each, play } from "./play.ts";
import { readFileSync } from "node:fs";
import { decodeChunks } from "../../../src/api/chat/follow-turn.ts";
import { parseStreamLine } from "../../../src/api/chat/packets.ts";

describe("hostile text", () => {
  const nasty = "\u001b]52;c;aGk=\u0007\u009b2J\u001b[31m\u202egnp.\u001bP\r\n::set-env x";
  const lines: ChatEvent[] = [
    start(1, [document(nasty, nasty, `https://x/${nasty}`)]),
    packet({ type: "reasoning_delta", reasoning: nasty }, 1),
    packet({ type: "search_tool_start" }, 2),
    packet({ type: "search_tool_queries_delta", queries: [nasty] }, 2),
    packet({ type: "search_tool_filter_delta", sources: [nasty], time_filter_start: nasty }, 2),
    packet({ type: "open_url_urls", urls: [nasty] }, 2),
    packet({ type: "custom_tool_start", tool_name: nasty }, 3),
    packet({ type: "custom_tool_args", tool_name: nasty, tool_args: { [nasty]: nasty } }, 3),
    packet(
      { type: "custom_tool_delta", tool_name: nasty, data: nasty, error: { message: nasty } },
      3,
    ),
    packet({ type: "python_tool_start", code: nasty }, 4),
    packet({ type: "python_tool_delta", stdout: nasty, stderr: nasty }, 4),
    packet({ type: "image_generation_final", images: [{ url: nasty, revised_prompt: nasty }] }, 4),
    packet({ type: "deep_research_plan_delta", content: nasty }, 5),
    packet({ type: "research_agent_start", research_task: nasty }, 5),
    packet({ type: "memory_tool_delta", memory_text: nasty, operation: nasty }, 5),
    packet({ type: "bash_tool_start", cmd: nasty }, 5),
    start(6, [document(nasty, nasty, `https://x/${nasty}`)]),
    packet({ type: "citation_info", citation_number: 1, document_id: nasty }, 6),
    text(`${nasty} [[1]](${nasty})`, 6),
    stop,
  ];
  const active = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

  it.each([
    ["text", false],
    ["text", true],
    ["json", false],
    ["ndjson", false],
    ["packets", true],
  ] as const)("is inert in %s (terminal: %s)", async (format, isTTY) => {
    const { stdout, stderr } = await play(each(lines), { format, isTTY });
    expect(stdout).not.toMatch(active);
    expect(stderr).not.toMatch(active);
  });

  it("keeps its data in json", async () => {
    const { stdout } = await play(each(lines), { format: "json" });
    const result = JSON.parse(stdout) as { answer: string };
    expect(result.answer).toBe(`${nasty} [[1]](${nasty})`);
  });

  it("comes out the same however it is split", async () => {
    const whole = await play([[start(), text(nasty), stop]], { isTTY: true });
    const split = await play([[start()], ...[...nasty].map((part) => [text(part)]), [stop]], {
      isTTY: true,
    });
    expect(split.stdout).toBe(whole.stdout);
  });

  it("cannot break a title over lines", async () => {
    const { stderr } = await play([[start(0, [document("a", "one\n[2] two")]), text("x"), stop]], {
      show: new Set(["documents"]),
    });
    expect(stderr).toBe("Retrieved, not cited\n  · one [2] two\n");
  });
});

describe("secrets", () => {
  it("are redacted where the answer spells one over several packets", async () => {
    const { stdout } = await play(
      [[start(), text("key tok-")], [text("12345"), text("678 end")], [stop]],
      {
        isTTY: true,
        secret: "tok-12345678",
      },
    );
    expect(stdout).toBe("key *** end\n");
  });

  it("are not waited for at the end", async () => {
    const { stdout } = await play([[start(), text("ends in tok-12")], [stop]], {
      isTTY: true,
      secret: "tok-12345678",
    });
    expect(stdout).toBe("ends in tok-12\n");
  });
});

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
type Line = { obj?: { type: string; [name: string]: Json }; [name: string]: Json | undefined };

const fixture = readFileSync("test/fixtures/wire/every-packet.ndjson", "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Line);

const otherLines: Line[] = [
  { user_message_id: 1, responses: [{ message_id: 2, model_name: "m" }] },
  { error: "no", error_code: "X", stack_trace: "s", is_retryable: true, details: { model: "m" } },
];

const nasties: Record<string, string> = {
  escape: "a\u001b[31mb\u001b",
  clipboard: "a\u001b]52;c;aGk=\u0007b",
  hyperlink: "https://x/\u001b]8;;https://evil\u001b\\b",
  reset: "a\u001bcb\u001b[?1049h\u001b[6n",
  c1: "a\u009b2J\u0090q\u009cb\u009d0;t",
  bidi: "a\u202egnp.exe\u2066\u200f",
  lines: "a\r\nFORGED line\rFORGED\u2028b\u0085FORGED\u000bFORGED\u000cFORGED",
  github: "::set-env name=PATH::x\n::error::x\n  ::stop-commands::x",
  azure: "##vso[task.setvariable]x ##[group]x",
  surrogates: "a\ud83d b\udc00 c",
  prototype: "__proto__",
};

/** The value with every string in it replaced, names of members in free data too. */
function poison(value: Json, nasty: string, free = false): Json {
  if (typeof value === "string") return nasty;
  if (Array.isArray(value)) return value.map((one) => poison(one, nasty, free));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, one]): [string, Json] => {
    const isFree = free || ["tool_args", "data", "argument_deltas", "metadata"].includes(name);
    return [free ? nasty : name, name === "type" ? one : poison(one, nasty, isFree)];
  });
  return Object.fromEntries(members);
}

function poisoned(nasty: string): { name: string; line: ChatEvent }[] {
  const packets = fixture.filter((line) => line.obj !== undefined);
  return [...packets, ...otherLines].map((line) => ({
    name: line.obj?.type ?? Object.keys(line).join(),
    line: parseStreamLine(JSON.stringify(poison(line as Json, nasty))),
  }));
}

/** What our own styles and links look like; they may be there, and nothing else. */
const own =
  /\u001b\[(?:0|1|2|4|22|24|3[1-37]|39)m|\u001b\]8;;(?:https?:\/\/[\u0021-\u007e]+)?\u001b\\/g;
const active =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const command = /##(?:vso)?\[|^\s*::/im;

const looks: [name: string, options: PlayOptions][] = [
  ["text in a pipe", {}],
  ["text live in a pipe", { live: true, all: true }],
  ["text on a terminal", { isTTY: true, colour: true, env: { TERM: "xterm-kitty" }, all: true }],
  ["json", { format: "json" }],
  ["ndjson", { format: "ndjson" }],
  ["packets", { format: "packets" }],
];

const around = (line: ChatEvent): ChatEvent[] => [start(6), line, start(7), text("fine", 7), stop];

// These are running text: lines of theirs are lines of the screen, as those of the answer.
const running = new Set([
  "message_delta",
  "reasoning_delta",
  "deep_research_plan_delta",
  "intermediate_report_delta",
  "coding_agent_thinking_delta",
]);

describe.each(looks)("hostile fields of every packet: %s", (_look, options) => {
  it.each(Object.entries(nasties))("%s", async (_name, nasty) => {
    const env = { ...options.env, GITHUB_ACTIONS: "true" };
    const lines = poisoned(nasty);
    expect(lines.filter(({ line }) => line.kind === "unknown")).toEqual([]);
    const wrong: string[] = [];
    for (const { name, line } of lines) {
      const { stdout, stderr } = await play(each(around(line)), { ...options, env });
      const forbidden = running.has(name) ? [active, command] : [active, command, /^FORGED/m];
      for (const stream of [stdout, stderr]) {
        const rest = stream.replace(own, "");
        if (forbidden.some((each) => each.test(rest))) wrong.push(`${name}: ${rest}`);
      }
      if (options.format) {
        const records = options.format === "json" ? [stdout] : stdout.trimEnd().split("\n");
        for (const record of records) JSON.parse(record);
      } else if (name !== "stop" && !stdout.includes("fine")) wrong.push(`${name}: no answer`);
    }
    expect(wrong).toEqual([]);
    expect(({} as Record<string, unknown>)["a"]).toBeUndefined();
  });
});

describe("hostile fields all at once", () => {
  const raw = (nasty: string): string =>
    [...fixture.slice(0, 2), ...fixture.slice(2).map((line) => poison(line as Json, nasty))]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join("");

  async function decoded(bytes: Uint8Array, size: number): Promise<ChatEvent[][]> {
    async function* chunks() {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    }
    const batches: ChatEvent[][] = [];
    for await (const messages of decodeChunks(chunks(), { lineBytes: 1_000_000 })) {
      batches.push(messages.map(parseStreamLine));
    }
    return batches;
  }

  it.each(Object.entries(nasties))("come out the same in any chunks: %s", async (_name, nasty) => {
    const bytes = Buffer.from(raw(nasty));
    for (const [look, options] of looks.filter(([each]) => /^text|ndjson/.test(each))) {
      const whole = await play(await decoded(bytes, bytes.length), options);
      for (const size of [1, 1000]) {
        const split = await play(await decoded(bytes, size), options);
        expect([split.stdout, split.stderr], `${look} by ${size}`).toEqual([
          whole.stdout,
          whole.stderr,
        ]);
      }
    }
  });

  it.each(Object.entries(nasties))(
    "come out the same over several packets: %s",
    async (_name, nasty) => {
      const types = [
        ["message_delta", "content"],
        ["reasoning_delta", "reasoning"],
        ["deep_research_plan_delta", "content"],
        ["coding_agent_thinking_delta", "content"],
      ] as const;
      for (const [type, member] of types) {
        const line = (content: string): ChatEvent =>
          parseStreamLine(
            JSON.stringify({ placement: { turn_index: 7 }, obj: { type, [member]: content } }),
          );
        const env = { GITHUB_ACTIONS: "true" };
        const show = async (parts: readonly string[]) => {
          const { stdout, stderr } = await play(each([start(7), ...parts.map(line), stop]), {
            isTTY: true,
            env,
          });
          return [stdout, stderr];
        };
        const whole = await show([nasty]);
        for (let cut = 0; cut <= nasty.length; cut++) {
          const parts = [nasty.slice(0, cut), nasty.slice(cut)];
          const shown = await show(parts);
          if (shown.join() !== whole.join()) expect(shown, `${type} at ${cut}`).toEqual(whole);
        }
      }
    },
  );

  it("keep their data in json", async () => {
    for (const nasty of Object.values(nasties)) {
      const { stdout } = await play(await decoded(Buffer.from(raw(nasty)), 4096), {
        format: "ndjson",
        env: { GITHUB_ACTIONS: "true" },
      });
      const records = stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, Json>);
      expect(records.find((each) => each["type"] === "reasoning")).toMatchObject({ text: nasty });
      expect(records.find((each) => each["step"] === "failed")).toMatchObject({
        error: { message: nasty },
      });
      expect(records.at(-1)).toMatchObject({ type: "result", answer: nasty });
    }
  });
});
