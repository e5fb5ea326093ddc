import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hasPostgres, newDatabase } from "../postgres.ts";
import { makeCheckout, enginesFolder, prepareDocuments, run, sentTwice } from "./place.ts";

const total = 150;

describe.runIf(hasPostgres)("PostgreSQL alone", () => {
  it("hands out each document once to the workers of two machines, and nothing later", async () => {
    const place = await prepareDocuments(total);
    makeCheckout(place.folder);
    const { url } = await newDatabase();
    const shared = { KNOWCTL_SHARED_STATE: url, KNOWCTL_STATE_PROJECT: "handbook" };
    const own = { ...place, env: { ...place.env, ...shared } };
    expect(await run("knowctl", ["state", "share", "--yes"], own)).toMatchObject({ code: 0 });
    const upload = join(enginesFolder, "postgresql", "upload.sh");
    const machines = ["one", "two"].map((name) =>
      run("sh", [upload, "2", "--state", join(place.folder, "..", name)], own),
    );
    for (const { code } of await Promise.all(machines)) expect(code).toBe(0);
    const { documents } = place.sandbox.ledger;
    expect(documents.size).toBe(total);
    expect(sentTwice(place.sandbox)).toBe(0);
    const later = await run("sh", [upload, "1", "--state", join(place.folder, "..", "three")], own);
    expect(later).toMatchObject({ code: 0 });
    expect(sentTwice(place.sandbox)).toBe(0);
  });
});
