import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { CronJob, Job } from "kubernetes-types/batch/v1.js";
import { describe, expect, it } from "vitest";
import { runHere } from "../main.ts";
import { hasPostgres, newDatabase } from "../postgres.ts";
import { writeFiles } from "../service.ts";
import { checkManifests, readManifest, runJob, type Cluster } from "./kubernetes.ts";
import { prepareDocuments, run, sentTwice, until } from "./place.ts";

const names = ["claim-job.yaml", "indexed-job.yaml", "cronjob.yaml"];

describe("the manifests", () => {
  const manifests = names.map((name) => {
    const value = readManifest<Job | CronJob>(name);
    return { kind: value.kind, value };
  });

  it("are what the API knows", () => {
    expect(checkManifests(manifests)).toBe("");
  });

  it("would be refused with a wrong name, a wrong type or without a container", () => {
    const { spec, ...job } = readManifest<Job>("indexed-job.yaml");
    const wrong = [{ parallelisms: 4 }, { parallelism: "4" }, { template: { spec: {} } }];
    const values = wrong.map((each) => ({ ...job, spec: { ...spec, ...each } }));
    const found = checkManifests(values.map((value) => ({ kind: "Job", value })));
    expect(found).toContain(`"parallelisms"' does not exist`);
    expect(found).toContain("Type 'string' is not assignable to type 'number'");
    expect(found).toContain("'containers' is missing");
  });

  it("hold no key, and run without rights", () => {
    for (const { value } of manifests) {
      const text = JSON.stringify(value);
      expect(text).not.toMatch(/postgres:|KEY"/);
      expect(text).toContain('"readOnlyRootFilesystem":true');
    }
  });
});

const total = 160;
const inFlight = 8;
const batch = 64;

/** A cluster with the documents on a volume, and the secret that the README names. */
async function prepareCluster(): Promise<Cluster> {
  const place = await prepareDocuments(total);
  const { url } = await newDatabase();
  const reports = join(place.folder, "..", "reports");
  mkdirSync(reports);
  const shared = { KNOWCTL_SHARED_STATE: url, KNOWCTL_STATE_PROJECT: "handbook" };
  const service = ["KNOWCTL_BASE_URL", "KNOWCTL_API_KEY"].map((name) => [name, place.env[name]!]);
  const knowctl = { ...Object.fromEntries(service), ...shared } as Record<string, string>;
  const env = { ...place.env, ...shared };
  // What a lost pod has claimed is free again so soon.
  const own = { url: { env: "KNOWCTL_SHARED_STATE" }, project: "handbook", leaseSeconds: 6 };
  const config = JSON.stringify({ state: { shared: own } });
  writeFiles(place.env["XDG_CONFIG_HOME"]!, { "knowctl/config.json": config });
  expect(await run("knowctl", ["state", "share", "--yes"], { ...place, env })).toMatchObject({
    code: 0,
  });
  return {
    place,
    secrets: { knowctl },
    claims: { handbook: join(place.folder, "docs"), reports },
  };
}

describe.runIf(hasPostgres)("as pods, with PostgreSQL,", () => {
  async function expectUpload(name: string): Promise<void> {
    const cluster = await prepareCluster();
    const { sandbox } = cluster.place;
    const codes = await runJob(readManifest(name), cluster, (pod, number) => {
      if (number !== 2) return;
      const isDue = (): boolean => sandbox.ledger.documents.size > total / 4;
      void until(isDue, pod.stderr).then(pod.kill);
    });
    expect(
      codes.filter((code) => code === null),
      name,
    ).toHaveLength(1);
    expect(
      codes.filter((code) => code === 0),
      name,
    ).toHaveLength(4);
    expect(sandbox.ledger.documents.size, name).toBe(total);
    const before = sentTwice(sandbox);
    expect(before, name).toBeLessThanOrEqual(inFlight + batch);

    // The record holds every document: nobody needs to send one again.
    const { folder, env } = cluster.place;
    const docs = cluster.claims["handbook"]!;
    const flags = ["--root", docs, "--id-prefix", "handbook/", "--cc-pair-id", "2"];
    const options = { cwd: folder, env: { ...env, ...cluster.secrets["knowctl"] } };
    const again = await runHere(["ingest", docs, ...flags, "--state", `${folder}-later`], options);
    expect(again, name).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`${total} unchanged`),
    });
    expect(sentTwice(sandbox), name).toBe(before);
  }

  // Side by side: both wait for the lease of the lost pod.
  it("the jobs upload each document although a pod is lost, and nothing the second time", async () => {
    await Promise.all(["claim-job.yaml", "indexed-job.yaml"].map(expectUpload));
  });

  it("cronjob.yaml sends only what is new to the pod of the next night", async () => {
    const cluster = await prepareCluster();
    const { sandbox } = cluster.place;
    const { spec } = readManifest<CronJob>("cronjob.yaml").spec!.jobTemplate;
    const job: Job = { metadata: { name: "knowledge-nightly-1" }, spec: spec! };
    expect(await runJob(job, cluster)).toEqual([0]);
    expect(await runJob(job, cluster)).toEqual([0]);
    expect(sandbox.ledger.documents.size).toBe(total);
    expect(sentTwice(sandbox)).toBe(0);
  });
});
