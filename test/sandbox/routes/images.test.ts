import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { upsertDocument } from "../../../src/api/documents.ts";
import { uploadImage, type UploadFile } from "../../../src/api/files.ts";
import { imagePlaceholder } from "../../../src/documents/images/image-sections.ts";
import { readImageBytes, type LocalImage } from "../../../src/documents/images/images.ts";
import { readDocumentSync } from "../../../src/documents/read/read.ts";
import { compileSettings } from "../../../src/documents/map/settings.ts";
import { closeAll, openClient } from "../../api/support.ts";
import { createFolder, fileIn } from "../../documents/folder.ts";
import { key, start } from "../start.ts";

afterEach(closeAll);

const paths = {
  standard: "/api/user/file/upload",
  onyx: "/api/manage/admin/connector/file/upload",
} as const;

const pngOf = (text: string): Buffer =>
  Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.from(text)]);

function uploadOf(root: string, image: LocalImage): UploadFile {
  const { name, mime, sizeBytes } = image;
  return {
    name,
    type: mime,
    sizeBytes,
    async *bytes() {
      yield readImageBytes(root, image);
    },
  };
}

function project(): string {
  const outside = createFolder({ "secret.png": pngOf("CANARY") });
  const text =
    `![a](img/a.png) ![b](../..${outside}/secret.png) ![c](${outside}/secret.png) ` +
    `![d](file://${outside}/secret.png) ![e](img/linked/secret.png) ![f](img/a.png)`;
  const root = createFolder({ "page.md": text, "img/a.png": pngOf("one") });
  symlinkSync(outside, join(root, "img/linked"));
  return root;
}

describe.each(["standard", "onyx"] as const)("images of a document in %s", (dialect) => {
  it("are uploaded and named; what lies outside the project stays there", async () => {
    const sandbox = await start({ dialect });
    const client = openClient(sandbox.url, { dialect, accessToken: key, apiKey: key });
    const root = project();
    const settings = compileSettings({ root, images: "upload" });
    const reading = readDocumentSync(fileIn(root, "page.md"), settings);
    if (reading.kind !== "document") throw new Error(reading.reason);
    let body = JSON.stringify({ document: reading.document, cc_pair_id: 2 });
    for (const image of reading.uploads ?? []) {
      const id = await uploadImage(client, uploadOf(root, image), { isRemembered: true });
      const member = (value: string): string => `"image_file_id":${JSON.stringify(value)}`;
      body = body.replaceAll(member(imagePlaceholder(image.sha256)), member(id));
    }
    await upsertDocument(client, body);
    const { documents, requests } = sandbox.ledger;
    const [taken] = documents.get("page.md") ?? [];
    expect(taken?.document.sections).toEqual([
      { text: readFileSync(join(root, "page.md"), "utf8") },
      { image_file_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    ]);
    expect(requests.map(({ path }) => path).filter((path) => path === paths[dialect])).toHaveLength(
      1,
    );
    expect(reading.warnings).toHaveLength(4);
    expect(reading.images).toBe(4);
  });
});

it("a placeholder that nobody replaced is refused", async () => {
  const sandbox = await start({ dialect: "standard" });
  const sections = [{ text: "x" }, { image_file_id: imagePlaceholder("0".repeat(64)) }];
  const document = { id: "a", semantic_identifier: "a", source: "file", metadata: {}, sections };
  expect((await sandbox.ingest(document)).status).toBe(400);
});
