import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { FileUpload, UserFile } from "../../../src/api/schemas.ts";
import { kindOf } from "../../../src/sandbox/store/files.ts";
import { documentOf, start } from "../start.ts";

function form(...files: File[]): FormData {
  const data = new FormData();
  for (const file of files) data.append("files", file);
  return data;
}
const text = (content: string, name = "a.txt", type = "text/plain"): File =>
  new File([content], name, { type });
const png = (): File =>
  new File([new Uint8Array([137, 80, 78, 71])], "p.png", { type: "image/png" });
const upload = "/api/user/projects/file/upload";

describe("files for a chat", () => {
  it.each(["standard", "onyx"] as const)("%s: upload and list", async (dialect) => {
    const { send, get } = await start({ dialect });
    const answer = await send("POST", upload, form(text("one"), png()));
    const { user_files, rejected_files } = z.parse(FileUpload, answer.json());
    expect(
      user_files.map(({ name, status, chat_file_type }) => [name, status, chat_file_type]),
    ).toEqual([
      ["a.txt", "PROCESSING", "plain_text"],
      ["p.png", "PROCESSING", "image"],
    ]);
    expect(rejected_files).toEqual([]);
    const listed = dialect === "onyx" ? "/api/user/files/recent" : "/api/user/projects/file/";
    const list = z.parse(z.array(UserFile), (await get(listed)).json());
    expect(list.map(({ id, status }) => [id, status])).toEqual(
      user_files.map(({ id }) => [id, "COMPLETED"]).toReversed(),
    );
  });

  it("takes what it can and says why not the rest, with 200", async () => {
    const { send } = await start();
    const binary = new File([new Uint8Array([0, 1, 2])], "b.bin", {
      type: "application/octet-stream",
    });
    const answer = await send("POST", upload, form(text(""), binary, text("ok", "c.txt")));
    expect([answer.status, answer.json()]).toMatchObject([
      200,
      {
        user_files: [{ name: "c.txt" }],
        rejected_files: [
          { file_name: "a.txt", reason: "File is empty" },
          { file_name: "b.bin", reason: "No text could be read from the file" },
        ],
      },
    ]);
  });

  it.each([
    ["standard", "/api/user/projects/file/"],
    ["onyx", "/api/user/files/recent"],
    ["onyx", "/api/user/projects/file/:id"],
    ["onyx", "/api/user/projects/file/statuses"],
  ] as const)("%s: %s shows a file while it is processed", async (dialect, path) => {
    const { send, get } = await start({ dialect, fileLooks: 2 });
    const broken = text("no pdf", "b.pdf", "application/pdf");
    const whole = text("%PDF-1.7 and so on", "w.pdf", "application/pdf");
    for (const [file, end] of [
      [broken, "FAILED"],
      [whole, "COMPLETED"],
    ] as const) {
      const { user_files } = z.parse(FileUpload, (await send("POST", upload, form(file))).json());
      const { id } = user_files[0]!;
      const look = async () => {
        const answer = path.endsWith("statuses")
          ? await send("POST", path, { file_ids: [id] })
          : await get(path.replace(":id", id));
        const found = [answer.json() as { id: string; status: string }].flat();
        return found.find((each) => each.id === id)!.status;
      };
      expect([await look(), await look(), await look()]).toEqual(["PROCESSING", "PROCESSING", end]);
    }
  });

  it("takes the kind from the part's type, not from the name", () => {
    const table = {
      "image/png": "image",
      "text/csv": "tabular",
      "application/pdf": "document",
      "application/octet-stream": "plain_text",
      "text/markdown; charset=utf-8": "plain_text",
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "document",
      "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "tabular",
    };
    expect(Object.fromEntries(Object.keys(table).map((mime) => [mime, kindOf(mime)]))).toEqual(
      table,
    );
  });

  it.each([
    ["no form", "{}", "application/json"],
    ["a form without an end", "--x\r\n", "multipart/form-data; boundary=x"],
    ["a form without a boundary", "x", "multipart/form-data"],
  ])("%s is 422", async (_, body, type) => {
    const { send } = await start();
    expect((await send("POST", upload, body, { "content-type": type })).status).toBe(422);
  });

  it("a form without files is 422", async () => {
    const { send } = await start();
    const data = new FormData();
    data.append("project_id", "1");
    expect((await send("POST", upload, data)).status).toBe(422);
  });

  it("answers from an attached file", async () => {
    const { send, whole } = await start({ dialect: "onyx" });
    const answer = await send("POST", upload, form(text("The wombat weighs 25 kg.")));
    const [file] = z.parse(FileUpload, answer.json()).user_files;
    const descriptor = { id: file!.file_id, type: "plain_text", user_file_id: file!.id };
    const reply = await whole("How much does a wombat weigh?", { file_descriptors: [descriptor] });
    expect(reply.answer).toContain("The wombat weighs 25 kg. (attached file a.txt)");
    const { user_file_id: _, ...incomplete } = descriptor;
    const body = { message: "x", stream: false, file_descriptors: [incomplete] };
    expect((await send("POST", "/api/chat/send-chat-message", body)).status).toBe(400);
  });

  it("in onyx: one file, statuses, content", async () => {
    const { send, get } = await start({ dialect: "onyx" });
    const answer = await send("POST", upload, form(text("<script>", "a.html", "text/html")));
    const [file] = z.parse(FileUpload, answer.json()).user_files;
    expect((await get(`/api/user/projects/file/${file!.id}`)).json()).toMatchObject({
      status: "COMPLETED",
    });
    expect((await get("/api/user/projects/file/none")).status).toBe(422);
    const ids = { file_ids: [file!.id, "00000000-0000-4000-8000-000000000009"] };
    expect((await send("POST", "/api/user/projects/file/statuses", ids)).json()).toHaveLength(1);
    const content = await get(`/api/chat/file/${file!.file_id}`);
    expect([content.text, content.headers.get("content-disposition")]).toEqual([
      "<script>",
      "attachment",
    ]);
  });
});

describe("images for documents", () => {
  it("standard: uploaded, then named in a section", async () => {
    const { send, ingest, get } = await start();
    const answer = await send("POST", "/api/user/file/upload", form(png()));
    const [image] = z.parse(z.array(UserFile), answer.json());
    const sections = [{ text: "See" }, { image_file_id: image!.file_id }];
    expect((await ingest(documentOf({ sections }))).status).toBe(200);
    expect((await get("/api/user/projects/file/")).json()).toEqual([]);
  });

  it("standard: a section names no other file", async () => {
    const { send, ingest } = await start();
    const answer = await send("POST", upload, form(text("x")));
    const [taken] = z.parse(FileUpload, answer.json()).user_files;
    const sections = [{ text: "See" }, { image_file_id: taken!.file_id }];
    expect((await ingest(documentOf({ sections }))).status).toBe(400);
  });

  it("standard: only images", async () => {
    const { send } = await start();
    const answer = await send("POST", "/api/user/file/upload", form(text("x")));
    expect([answer.status, answer.json()]).toEqual([
      400,
      { detail: "a.txt is not an image (text/plain)" },
    ]);
  });

  it("onyx: through the connector upload", async () => {
    const { send } = await start({ dialect: "onyx" });
    const path = "/api/manage/admin/connector/file/upload";
    expect((await send("POST", path, form(png()))).json()).toMatchObject({
      file_paths: [expect.any(String)],
      file_names: ["p.png"],
    });
    expect((await send("POST", "/api/user/file/upload", form(png()))).status).toBe(404);
  });
});
