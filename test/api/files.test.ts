import { readFileSync } from "node:fs";
import * as fc from "../property.ts";
import { afterEach, describe, expect, it } from "vitest";
import {
  findFileStates,
  listFiles,
  uploadChatFile,
  uploadImage,
  type UploadFile,
} from "../../src/api/files.ts";
import { urlOfFile, createMultipart } from "../../src/api/transport/multipart.ts";
import { closeAll, errorOf, jsonText, openClient, startRaw } from "./support.ts";

afterEach(closeAll);

const uploads = JSON.parse(
  readFileSync(new URL("../fixtures/wire/uploads.json", import.meta.url), "utf8"),
) as Record<string, unknown>;

function fileOf(bytes: Uint8Array, over: Partial<UploadFile> = {}): UploadFile {
  return {
    name: "a.pdf",
    type: "application/pdf",
    sizeBytes: bytes.length,
    async *bytes() {
      yield bytes;
    },
    ...over,
  };
}

const file = fileOf(Buffer.from("%PDF-1.7"));

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString("latin1");
}

describe("createMultipart", () => {
  it("writes fields and files, each with its own type, and knows its length", async () => {
    const image = fileOf(Buffer.from([0, 255, 13, 10]), {
      name: 'a"b\r\nc.png',
      type: "image/png",
    });
    const { contentType, contentLength, body } = createMultipart("files", [file, image], {
      project_id: "4",
    });
    const boundary = contentType.replace("multipart/form-data; boundary=", "");
    const text = await textOf(body());
    expect(text).toBe(
      [
        `--${boundary}`,
        'Content-Disposition: form-data; name="project_id"',
        "",
        "4",
        `--${boundary}`,
        'Content-Disposition: form-data; name="files"; filename="a.pdf"',
        "Content-Type: application/pdf",
        "",
        "%PDF-1.7",
        `--${boundary}`,
        'Content-Disposition: form-data; name="files"; filename="a%22b%0D%0Ac.png"',
        "Content-Type: image/png",
        "",
        "\0\xff\r\n",
        `--${boundary}--`,
        "",
      ].join("\r\n"),
    );
    expect(contentLength).toBe(text.length);
    expect(await textOf(body())).toBe(text);
  });

  it("lets no name or type add a header or a part", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.string(), async (name, type) => {
        const { body, contentLength } = createMultipart("files", [
          fileOf(Buffer.from("x"), { name, type }),
        ]);
        const text = await textOf(body());
        expect(text.split("\r\n")).toHaveLength(7);
        expect(text).toHaveLength(contentLength);
      }),
    );
  });
});

describe("uploadChatFile", () => {
  it("streams the file and returns what a descriptor needs", async () => {
    let got = "";
    const server = await startRaw((socket, request) => {
      got = request;
      socket.write(jsonText(uploads["chatFile"]));
    });
    const answer = await uploadChatFile(openClient(server.url), file, { projectId: 4 });
    expect(answer).toMatchObject({
      taken: { file_id: "0f3c", chat_file_type: "document", status: "PROCESSING" },
    });
    expect(server.seen).toEqual(["POST /api/user/projects/file/upload"]);
    expect(got).toMatch(/content-length: \d+/i);
    expect(got).not.toMatch(/transfer-encoding/i);
    expect(got).toContain("Content-Type: application/pdf\r\n\r\n%PDF-1.7\r\n");
    expect(got).toContain('name="project_id"\r\n\r\n4\r\n');
  });

  it.each([
    ["its words", uploads["rejected"], "password protected"],
    ["no words", { user_files: [] }, "the service accepted no file and gave no reason"],
    [
      "an empty reason",
      { user_files: [], rejected_files: [{ file_name: "a", reason: " " }] },
      "no reason given",
    ],
  ])(
    "tells why the service takes nothing although it says 200: %s",
    async (_name, body, reason) => {
      const server = await startRaw((socket) => void socket.write(jsonText(body)));
      expect(await uploadChatFile(openClient(server.url), file)).toEqual({ reason });
    },
  );

  it("is not sent twice once its bytes may have left", async () => {
    const server = await startRaw((socket) => socket.resetAndDestroy());
    await errorOf(uploadChatFile(openClient(server.url), file));
    expect(server.seen).toHaveLength(1);
  });

  it("is sent again after 429, from its beginning", async () => {
    let reads = 0;
    const server = await startRaw((socket, request, number) => {
      expect(request).toContain("%PDF-1.7");
      socket.write(
        number === 1 ? jsonText({ detail: "slow" }, "429 X") : jsonText(uploads["chatFile"]),
      );
    });
    const counted = fileOf(Buffer.from("%PDF-1.7"), {
      async *bytes() {
        reads += 1;
        yield Buffer.from("%PDF-1.7");
      },
    });
    await uploadChatFile(openClient(server.url), counted);
    expect(reads).toBe(2);
  });

  it.each([
    ["fewer", 100],
    ["more", 3],
  ])("fails when the file gives %s bytes than it said", async (_name, sizeBytes) => {
    const server = await startRaw((socket) => void socket.write(jsonText(uploads["chatFile"])));
    const wrong = fileOf(Buffer.from("%PDF-1.7"), { sizeBytes });
    const thrown = await errorOf(uploadChatFile(openClient(server.url), wrong));
    expect(thrown).toMatchObject({ exit: "local" });
    expect(server.seen).toEqual([]);
  });

  it("tells the fault of a file that cannot be read", async () => {
    const server = await startRaw(() => {});
    const broken = fileOf(Buffer.from("x"), {
      // oxlint-disable-next-line require-yield
      async *bytes() {
        throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
      },
    });
    const thrown = await errorOf(uploadChatFile(openClient(server.url), broken));
    expect(thrown).toMatchObject({ exit: "local", message: "cannot read a.pdf: the disk failed" });
  });
});

describe("findFileStates", () => {
  const known = { id: "5b1e", file_id: "0f3c", status: "PROCESSING" };

  it("asks for each file where the dialect can", async () => {
    const server = await startRaw((socket, request) => {
      if (request.includes("/recent")) socket.write(jsonText([{ ...known, id: "listed" }]));
      else if (request.includes("/file/5b1e")) {
        socket.write(jsonText({ ...known, status: "COMPLETED" }));
      } else socket.write(jsonText({ detail: "no" }, "404 X"));
    });
    const client = openClient(server.url, { dialect: "onyx" });
    const files = ["5b1e", "gone", "listed"].map((id) => ({ ...known, id }));
    const states = await findFileStates(client, files);
    expect(states.map(({ status }) => status)).toEqual(["COMPLETED", "DELETING", "PROCESSING"]);
    expect(server.seen.slice(0, 3)).toEqual([
      "GET /api/user/projects/file/5b1e",
      "GET /api/user/projects/file/gone",
      "GET /api/user/files/recent",
    ]);
  });

  it("looks into the listing where it cannot", async () => {
    const listed = [{ ...known, status: "INDEXING" }];
    const server = await startRaw((socket) => void socket.write(jsonText(listed)));
    const other = { ...known, id: "other" };
    const states = await findFileStates(openClient(server.url), [known, other]);
    expect(states.map(({ status }) => status)).toEqual(["INDEXING", null]);
    expect(server.seen).toEqual(["GET /api/user/projects/file/"]);
  });
});

describe("uploadImage", () => {
  it.each([
    ["imageArray", "img-1"],
    ["imagePaths", "img-2"],
    ["imageId", "img-3"],
    ["chatFile", "0f3c"],
  ])("reads the id from the answer %s", async (name, id) => {
    const server = await startRaw((socket) => void socket.write(jsonText(uploads[name])));
    expect(await uploadImage(openClient(server.url), file)).toBe(id);
    expect(server.seen).toEqual(["POST /api/user/file/upload"]);
  });

  it.each([
    ["once without a memory", false, 1],
    ["three times with one", true, 3],
  ])("is tried %s when answers are lost, and says so", async (_name, isRemembered, attempts) => {
    const server = await startRaw((socket) => socket.resetAndDestroy());
    let orphans = 0;
    const options = { isRemembered, onOrphan: () => void orphans++ };
    const thrown = await errorOf(uploadImage(openClient(server.url), file, options));
    expect(thrown).toMatchObject({ exit: "unreachable" });
    expect([server.seen.length, orphans]).toEqual([attempts, attempts]);
  });

  it("leaves no orphan where the service said no", async () => {
    let orphans = 0;
    const server = await startRaw((socket, _request, number) => {
      if (number === 1) socket.write(jsonText({ detail: "slow" }, "429 X"));
      else socket.write(jsonText(uploads["imageId"]));
    });
    const onOrphan = (): void => void orphans++;
    expect(await uploadImage(openClient(server.url), file, { isRemembered: true, onOrphan })).toBe(
      "img-3",
    );
    expect(orphans).toBe(0);
  });

  it("goes where the dialect takes images", async () => {
    const server = await startRaw((socket) => void socket.write(jsonText(uploads["imagePaths"])));
    await uploadImage(openClient(server.url, { dialect: "onyx" }), file);
    expect(server.seen).toEqual(["POST /api/manage/admin/connector/file/upload"]);
  });

  it.each([[uploads["rejected"]], [[]], [{ file_paths: [] }], [{ user_files: [] }]])(
    "fails without an id: %j",
    async (answer) => {
      const server = await startRaw((socket) => void socket.write(jsonText(answer)));
      const thrown = await errorOf(uploadImage(openClient(server.url), file));
      expect(thrown).toMatchObject({ exit: "server-error" });
      expect(thrown.message).toContain("rejected");
    },
  );

  it("fails for another shape", async () => {
    const server = await startRaw((socket) => void socket.write(jsonText({ success: true })));
    const thrown = await errorOf(uploadImage(openClient(server.url), file));
    expect(thrown.message).toContain("unexpected response");
  });
});

describe("listFiles", () => {
  it.each([
    ["standard", "GET /api/user/projects/file/"],
    ["onyx", "GET /api/user/files/recent"],
  ] as const)("of %s reads a bare list and a wrapped one", async (dialect, request) => {
    const { user_files } = uploads["chatFile"] as { user_files: unknown[] };
    for (const answer of [user_files, uploads["chatFile"]]) {
      const server = await startRaw((socket) => void socket.write(jsonText(answer)));
      expect(await listFiles(openClient(server.url, { dialect }))).toEqual(user_files);
      expect(server.seen).toEqual([request]);
    }
  });
});

describe("urlOfFile", () => {
  it.each([
    ["https://cdn.example.com/a.png", "https://cdn.example.com/a.png"],
    ["/chat/file/f-1", "https://host/prefix/api/chat/file/f-1"],
    ["/api/chat/file/f-1", "https://host/prefix/api/chat/file/f-1"],
    ["f 1", "https://host/prefix/api/chat/file/f%201"],
    ["javascript:alert(1)", "https://host/prefix/api/chat/file/javascript%3Aalert(1)"],
    ["half \ud800", "https://host/prefix/api/chat/file/half%20%EF%BF%BD"],
  ])("of %j is %s", (path, url) => {
    const client = openClient("https://host/prefix");
    expect(urlOfFile(client, path)).toBe(url);
  });
});
