import { describe, expect, it } from "vitest";
import type { ChatEvent } from "../../../src/api/chat-schemas.ts";
import { document, packet, start, stop, text } from "./lines.ts";
import { each, play } from "./play.ts";

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
