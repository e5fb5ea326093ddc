import { describe, expect, it } from "vitest";
import { imagePlaceholder } from "../../../src/documents/map/images/image-sections.ts";
import type { LocalImage } from "../../../src/documents/map/images/images.ts";
import { createImages } from "../../../src/sync/run/bodies.ts";
import type { State } from "../../../src/sync/state/state.ts";
import { openTestState } from "../open-state.ts";

function imageOf(sha256: string): LocalImage {
  const path = `${sha256}.png`;
  return { path, absolutePath: `/${path}`, sha256, mime: "image/png", sizeBytes: 1, name: path };
}

function bodyOf(...hashes: string[]): Uint8Array {
  const sections = hashes.map((sha256) => ({ image_file_id: imagePlaceholder(sha256), link: "l" }));
  const text = { text: `"image_file_id":"${imagePlaceholder("a")}"` };
  const metadata = { image_file_id: imagePlaceholder("a") };
  const document = { id: "d", sections: [text, ...sections], metadata };
  return Buffer.from(JSON.stringify({ document, cc_pair_id: 2 }));
}

function idsIn(body: Uint8Array): unknown[] {
  const { document } = JSON.parse(Buffer.from(body).toString()) as {
    document: { sections: { image_file_id?: string }[] };
  };
  return document.sections.map(({ image_file_id }) => image_file_id);
}

interface Setup {
  state: State;
  uploads: string[];
}

function open(
  { state, uploads }: Setup,
  change: { force?: boolean; service?: string; behave?: () => Promise<void> } = {},
): ReturnType<typeof createImages> {
  return createImages({
    state,
    service: change.service ?? "https://a",
    force: change.force === true,
    now: Date.now,
    async upload({ sha256 }) {
      uploads.push(sha256);
      await change.behave?.();
      return `id-${sha256}-${uploads.length}`;
    },
  });
}

describe("images of documents on their way", () => {
  it("only sections get the service's id, and only of the document's own images", async () => {
    const setup = { state: await openTestState(), uploads: [] };
    const images = open(setup);
    const body = await images.place(bodyOf("a", "b"), [imageOf("a")]);
    expect(idsIn(body)).toEqual([undefined, "id-a-1", imagePlaceholder("b")]);
    const parsed = JSON.parse(Buffer.from(body).toString()) as { document: { metadata: object } };
    expect(parsed.document.metadata).toEqual({ image_file_id: imagePlaceholder("a") });
    const untouched = bodyOf("a");
    expect(await images.place(untouched, [])).toBe(untouched);
  });

  it("documents at the same time share one upload; a failed one is tried again", async () => {
    const setup = { state: await openTestState(), uploads: [] };
    let failures = 1;
    const images = open(setup, {
      behave: () => (failures-- > 0 ? Promise.reject(new Error("no")) : Promise.resolve()),
    });
    const both = [
      images.place(bodyOf("a"), [imageOf("a")]),
      images.place(bodyOf("a"), [imageOf("a")]),
    ];
    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual([
      "rejected",
      "rejected",
    ]);
    expect(setup.uploads).toHaveLength(1);
    expect(idsIn(await images.place(bodyOf("a"), [imageOf("a")]))[1]).toBe("id-a-2");
  });

  it("remembers for each service; force forgets what was before the run", async () => {
    const setup: Setup = { state: await openTestState(), uploads: [] };
    await open(setup).place(bodyOf("a"), [imageOf("a")]);
    expect(idsIn(await open(setup).place(bodyOf("a"), [imageOf("a")]))[1]).toBe("id-a-1");
    await open(setup, { service: "https://b" }).place(bodyOf("a"), [imageOf("a")]);
    const forced = open(setup, { force: true });
    for (let count = 0; count < 2; count++) {
      expect(idsIn(await forced.place(bodyOf("a"), [imageOf("a")]))[1]).toBe("id-a-3");
    }
    expect(idsIn(await open(setup).place(bodyOf("a"), [imageOf("a")]))[1]).toBe("id-a-3");
    expect(setup.uploads).toHaveLength(3);
  });
});
