import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { describe, expect, it, onTestFinished } from "vitest";
import { freePort, hasPostgres, newDatabase, startPostgres } from "../postgres.ts";
import type { CliResult } from "../ran.ts";
import { writeFiles } from "../service.ts";
import { projectFolder } from "../support.ts";
import {
  makeCheckout,
  enginesFolder,
  prepareDocuments,
  run,
  sentTwice,
  type Place,
} from "./place.ts";

interface Step {
  uses?: string;
  run?: string;
  env?: Record<string, string>;
}

interface GitHubJob {
  env: Record<string, string>;
  strategy?: { matrix: { worker: number[] } };
  services?: { postgres: { image: string; env: Record<string, string> } };
  steps: Step[];
}

interface GitLabJob {
  extends?: string;
  services?: { name: string; alias: string }[];
  variables?: Record<string, string>;
  parallel?: number;
  before_script?: string[];
  script?: string[];
}

function readYaml<Content>(...path: string[]): Content {
  return load(readFileSync(join(...path), "utf8")) as Content;
}

const workflow = readYaml<{ env: Record<string, string>; jobs: Record<string, GitHubJob> }>(
  enginesFolder,
  "ci",
  "github.yml",
);
const gitlab = readYaml<Record<string, GitLabJob>>(enginesFolder, "ci", "gitlab.yml");
const template = readYaml<Record<string, GitLabJob>>(projectFolder, ".gitlab", "knowctl.yml");

/** A job of GitLab with what it extends: variables are merged by name. */
function gitlabJob(name: string, job: GitLabJob = gitlab[name]!): GitLabJob {
  const base = job.extends === undefined ? {} : gitlabJob(job.extends, template[job.extends]);
  return { ...base, ...job, variables: { ...base.variables, ...job.variables } };
}

let checkouts = 0;

/** A fresh checkout, as each job has it. */
function checkOut(place: Place): Place {
  const folder = join(place.folder, "..", `checkout-${(checkouts += 1)}`);
  execFileSync("git", ["clone", "-q", place.folder, folder]);
  return { ...place, folder };
}

type Variables = Record<string, string>;

/** Runs the scripts of a job of GitHub; the actions are done already, and npm finds its package installed. */
async function runGitHub(job: GitHubJob, place: Place, values: Variables): Promise<CliResult> {
  const evaluate = (env: Variables = {}): Variables =>
    Object.fromEntries(
      Object.entries(env).map(([name, text]) => [
        name,
        text.replace(/\$\{\{ (?:secrets|vars)\.(\w+) \}\}/g, (_all, of: string) => values[of]!),
      ]),
    );
  const checkout = checkOut(place);
  let last: CliResult = { code: 0, signal: null, stdout: "", stderr: "" };
  for (const { run: script, env } of job.steps) {
    if (script === undefined || last.code !== 0) continue;
    const own = { ...checkout.env, CI: "true", GITHUB_ACTIONS: "true", ...evaluate(workflow.env) };
    const variables = { ...own, ...evaluate(job.env), ...evaluate(env) };
    last = await run("bash", ["-e", "-c", script], { ...checkout, env: variables });
  }
  return last;
}

async function runGitLab(name: string, place: Place, values: Variables): Promise<CliResult> {
  const { before_script: before = [], script = [], variables } = gitlabJob(name);
  const checkout = checkOut(place);
  const global = gitlab["variables"] as Variables;
  const env = { ...checkout.env, CI: "true", ...global, ...variables, ...values };
  return await run("sh", ["-ec", [...before, ...script].join("\n")], { ...checkout, env });
}

const total = 120;

/** A repository of documents on a machine without the network: npm has nothing to install. */
async function prepareRepository(more: Record<string, string> = {}): Promise<Place> {
  const place = await prepareDocuments(total);
  writeFiles(place.folder, more);
  makeCheckout(place.folder);
  const npm = join(place.folder, "..", "bin", "npm");
  writeFiles(join(npm, ".."), { npm: "#!/bin/sh\n" });
  chmodSync(npm, 0o755);
  return place;
}

/** What a service container is to its job: a database of its own, whose port the job is told. */
async function startContainer({ POSTGRES_USER, POSTGRES_PASSWORD }: Variables): Promise<string> {
  const server = await startPostgres({ tcp: true });
  onTestFinished(() => server.close());
  server.sql("postgres", `alter role knowctl password '${POSTGRES_PASSWORD}'`);
  server.sql("postgres", "create database knowctl");
  expect(POSTGRES_USER).toBe("knowctl");
  return new URL(server.url("knowctl")).port;
}

/** The rehearsal with a sandbox on a free port instead of 8787, which somebody may use. */
function rehearsal(port: number): Record<string, string> {
  const script = readFileSync(join(enginesFolder, "ci", "rehearse.sh"), "utf8");
  const own = script.replace("knowctl sandbox", `knowctl sandbox --port ${port}`);
  expect(own).not.toBe(script);
  return { "rehearse.sh": own };
}

describe.runIf(hasPostgres)("a matrix of jobs, with PostgreSQL,", () => {
  type Upload = (place: Place, values: Variables, most?: number) => Promise<CliResult[]>;
  const uploads: [string, Upload][] = [
    [
      "github.yml",
      (place, values, most) => {
        const job = workflow.jobs["upload"]!;
        const workers = job.strategy!.matrix.worker.slice(0, most);
        return Promise.all(workers.map(() => runGitHub(job, place, values)));
      },
    ],
    [
      "gitlab.yml",
      (place, values, most) => {
        const count = gitlab["upload"]!.parallel!;
        const jobs = Array.from({ length: most ?? count }, (_, index) =>
          runGitLab("upload", place, {
            ...values,
            CI_NODE_INDEX: String(index + 1),
            CI_NODE_TOTAL: String(count),
          }),
        );
        return Promise.all(jobs);
      },
    ],
  ];

  it.each(uploads)(
    "%s sends each document once, and nothing in the next pipeline",
    async (_name, upload) => {
      const place = await prepareRepository();
      const { url } = await newDatabase();
      const share = { KNOWCTL_SHARED_STATE: url, KNOWCTL_STATE_PROJECT: "handbook" };
      const env = { ...place.env, ...share };
      expect(await run("knowctl", ["state", "share", "--yes"], { ...place, env })).toMatchObject({
        code: 0,
      });
      const service = ["KNOWCTL_BASE_URL", "KNOWCTL_API_KEY"].map((name) => [
        name,
        place.env[name]!,
      ]);
      const values = {
        ...(Object.fromEntries(service) as Variables),
        ...share,
        KNOWCTL_TARBALL: "knowctl.tgz",
      };
      // In the next pipeline one worker has everything before it.
      for (const results of [() => upload(place, values), () => upload(place, values, 1)]) {
        const codes = (await results()).map(({ code }) => code);
        expect(codes.every((code) => code === 0)).toBe(true);
        expect(place.sandbox.ledger.documents.size).toBe(total);
        expect(sentTwice(place.sandbox)).toBe(0);
      }
    },
  );

  it("github.yml rehearses with a service container", async () => {
    const port = await freePort();
    const place = await prepareRepository(rehearsal(port));
    const job = workflow.jobs["rehearse"]!;
    const container = await startContainer(job.services!.postgres.env);
    // The addresses of the job, as they are on this machine.
    const env = {
      ...job.env,
      KNOWCTL_BASE_URL: job.env["KNOWCTL_BASE_URL"]!.replace("8787", String(port)),
      KNOWCTL_SHARED_STATE: job.env["KNOWCTL_SHARED_STATE"]!.replace(
        "127.0.0.1:5432",
        `127.0.0.1:${container}`,
      ),
    };
    const values = { KNOWCTL_TARBALL: "x.tgz" };
    expect(await runGitHub({ ...job, env }, place, values)).toMatchObject({ code: 0 });
  });

  // Their uploads above run all that they do around a script.
  it("gitlab.yml rehearses by the same script with the same variables", () => {
    const job = workflow.jobs["rehearse"]!;
    const { script, variables, services } = gitlab["rehearse"]!;
    expect(job.steps.at(-1)!.run).toBe(script!.join("\n"));
    const database = job.env["KNOWCTL_SHARED_STATE"]!;
    expect(services).toEqual([{ name: job.services!.postgres.image, alias: "postgres" }]);
    expect({ ...gitlab["variables"], ...variables }).toEqual({
      ...workflow.env,
      ...job.services!.postgres.env,
      ...job.env,
      KNOWCTL_SHARED_STATE: database.replace("127.0.0.1:5432", "postgres:5432"),
    });
    expect(gitlab["rehearse"]!.extends).toBe(gitlab["upload"]!.extends!.replace(":ingest", ""));
  });
});
