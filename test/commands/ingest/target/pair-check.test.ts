import { expect, it } from "vitest";
import type { Client } from "../../../../src/api/client.ts";
import { dialects } from "../../../../src/api/dialects.ts";
import { pairCheckOf } from "../../../../src/commands/ingest/target/access.ts";
import type { DocumentSource } from "../../../../src/commands/ingest/options/settings.ts";
import { ApiError } from "../../../../src/errors.ts";

/** A client that counts its calls, and its check with what it told. */
function open(answer: () => Promise<unknown>) {
  let calls = 0;
  const call = async (): Promise<unknown> => {
    calls++;
    return await answer();
  };
  const told: string[] = [];
  const tell = (text: unknown): Promise<void> => Promise.resolve(void told.push(String(text)));
  const client = { dialect: dialects.standard, call } as unknown as Client;
  const source = { config: { profile: "p", ingest: {} } } as unknown as DocumentSource;
  const targets = { baseUrl: "http://h", pair: { ccPairId: 2, fromFlag: true } };
  const check = pairCheckOf(client, { source, targets, pairNames: new Map() }, {});
  const look = (): Promise<void> => check([2], { note: tell, warn: tell }, "nothing was sent");
  return { check, look, told, calls: () => calls };
}

it("takes the listing that was asked for before, and asks for no other", async () => {
  const record = { cc_pair_id: 2, name: "A", connector: { source: "ingestion_api" } };
  const { check, look, calls } = open(() => Promise.resolve([record]));
  check.begin();
  await look();
  await look();
  expect(calls()).toBe(1);
});

it("tells what went wrong with it only when the pairs are looked at", async () => {
  const denied = new ApiError("auth", "denied", { method: "GET", url: "http://a/b", status: 403 });
  const listing = open(() => Promise.reject(denied));
  listing.check.begin();
  await new Promise((resolve) => setImmediate(resolve));
  expect(listing.told).toEqual([]);
  await listing.look();
  expect(listing.told).toEqual([
    "to pair 2 at h, profile p",
    "the key may not list connectors, so the cc_pair_id is not checked beforehand; cannot determine who can read the documents",
  ]);
  const broken = open(() => Promise.reject(new Error("broken")));
  broken.check.begin();
  await expect(broken.look()).rejects.toThrow("broken");
});

it("says how to go on where a pair that is not there was deleted", async () => {
  const { look } = open(() => Promise.resolve([]));
  await expect(look()).rejects.toMatchObject({
    hints: expect.arrayContaining([
      expect.stringContaining("knowctl ingest PATH --cc-pair-id N"),
      expect.stringContaining("knowctl state forget --all --cc-pair-id 2"),
    ]),
  });
});
