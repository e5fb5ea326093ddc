import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { createSessionsWorld, sessionPath } from "./support.ts";

interface Stored {
  chat_session_id: string;
  messages: {
    message_id: number;
    message_type: string;
    message: string;
    error: string | null;
    files: [];
  }[];
}
const stored = JSON.parse(
  readFileSync(new URL("../../fixtures/wire/stored-session.json", import.meta.url), "utf8"),
) as Stored;
const id = stored.chat_session_id;
const image = { file_id: "img-1", url: "/chat/file/img-1", revised_prompt: "a cat", shape: null };
const placement = { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: 0 };
const packets = [
  [
    { placement, obj: { type: "image_generation_final", images: [image] } },
    { placement, obj: { type: "python_tool_delta", stdout: "", stderr: "", file_ids: ["f-2"] } },
    { placement, obj: { type: "custom_tool_delta", tool_name: "x", file_ids: null } },
    { placement: null, obj: "strange" },
  ],
];

async function worldWith(over: (answer: Stored["messages"][number]) => object) {
  const [root, question, answer] = stored.messages;
  const latest_child_message = answer!.message_id;
  const messages = [root, { ...question!, latest_child_message }, { ...answer!, ...over(answer!) }];
  const body = { ...stored, messages, packets, current_run: null };
  const rules = [{ when: { path: sessionPath }, do: { status: 200, body } }];
  return await createSessionsWorld({ faults: { rules } });
}

const onlyMade = () => ({ message: "", latest_child_message: null });

it("sessions show lists what tools made, which stands only in the replay", async () => {
  const world = await worldWith(onlyMade);
  const { code, stdout } = await world.command(["sessions", "show", id]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/image \/chat\/file\/img-1\nfile f-2/);
  expect(stdout).not.toContain("(no text)");
  const json = await world.command(["sessions", "show", id, "--json"]);
  const { messages } = JSON.parse(json.stdout) as { messages: object[] };
  expect(messages.at(-1)).toMatchObject({
    images: [{ fileId: "img-1", url: "/chat/file/img-1", prompt: "a cat", shape: null }],
    files: [{ id: "f-2", name: null }],
  });
});

it("sessions export and recover have it as well", async () => {
  const world = await worldWith(onlyMade);
  const exported = await world.command(["sessions", "export", id]);
  expect(exported.stdout).toMatch(/- image .*img\\-1\n- file f\\-2/);
  const recovered = await world.command(["sessions", "recover", id]);
  expect(recovered.code).toBe(0);
  expect(recovered.stdout).toContain("file f-2");
});

it("a turn that failed stores its error as its text, which is no answer", async () => {
  const error = "The model is busy";
  const world = await worldWith(() => ({ message: error, error, latest_child_message: null }));
  const recovered = await world.command(["sessions", "recover", id]);
  expect(recovered.code).not.toBe(0);
  expect(recovered.stdout).not.toContain(error);
  expect(recovered.stderr).toContain(error);
  const shown = await world.command(["sessions", "show", id]);
  expect(shown.stdout.split(error)).toHaveLength(2);
});

it("recovering a stopped answer does not recommend itself", async () => {
  const message = "Ten days\n\n... *Generation was stopped by the user.*";
  const world = await worldWith(() => ({ message, latest_child_message: null }));
  const { code, stderr } = await world.command(["sessions", "recover", id]);
  expect([code, stderr]).toEqual([11, expect.stringContaining("stopped on the service's side")]);
  expect(stderr).not.toContain("sessions recover");
});
