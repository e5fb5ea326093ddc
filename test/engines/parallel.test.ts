import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeFiles } from "../service.ts";
import {
  enginesFolder,
  prepareDocuments,
  run,
  sentTwice,
  start,
  until,
  works,
  type Place,
} from "./place.ts";

// A program of this name is in moreutils as well; GNU's has a job log.
const hasParallel = works("parallel", "--joblog", "/dev/null", "true", ":::", "x");

const total = 160;
const inFlight = 8;
const batch = 64;

describe.runIf(hasParallel)("GNU parallel", () => {
  const upload = join(enginesFolder, "parallel", "upload.sh");

  const finished = ({ folder }: Place): number =>
    existsSync(join(folder, "upload.joblog"))
      ? readFileSync(join(folder, "upload.joblog"), "utf8").trim().split("\n").length - 1
      : 0;

  it("goes on with the shards that are not done after everything was killed", async () => {
    const place = await prepareDocuments(total);
    const first = start("sh", [upload, "4", "--jobs", "2"], place);
    await until(() => finished(place) > 0, first.stderr);
    first.kill();
    await first.ended;
    const done = finished(place);
    const requests = place.sandbox.ledger.requestCount;
    const second = await run("sh", [upload, "4", "--jobs", "2", "--resume"], place);
    expect(second).toMatchObject({ code: 0, stderr: expect.stringContaining("4 reports merged") });
    expect(place.sandbox.ledger.requestCount).toBeGreaterThan(requests);
    expect(finished(place)).toBe(4);
    expect(done).toBeLessThan(4);
    expect(place.sandbox.ledger.documents.size).toBe(total);
    // Two shards ran when they were killed.
    expect(sentTwice(place.sandbox)).toBeLessThanOrEqual(2 * (inFlight + batch));

    const before = sentTwice(place.sandbox);
    expect(await run("sh", [upload, "4"], place)).toMatchObject({ code: 0 });
    expect(sentTwice(place.sandbox)).toBe(before);
  });

  it("runs shards on other hosts, and repeats those that failed", async () => {
    const place = await prepareDocuments(20);
    // For a command on another host parallel asks which shell quotes it.
    place.env["SHELL"] = "/bin/sh";
    // As ssh does on a host with the same folder; the second of the two hosts is broken at first.
    writeFiles(place.folder, {
      "ssh.sh":
        '#!/bin/sh\n[ "$1" != b ] || [ -e repaired ] || exit 255\nshift 2\nexec sh -c "$*"\n',
    });
    chmodSync(join(place.folder, "ssh.sh"), 0o755);
    const hosts = ["--ssh", join(place.folder, "ssh.sh"), "--sshlogin", "1/a,1/b"];
    const variables = ["--env", "KNOWCTL_BASE_URL", "--env", "KNOWCTL_API_KEY"];
    const flags = [upload, "4", ...hosts, "--workdir", place.folder, ...variables];
    const first = await run("sh", flags, place);
    expect(first.code).not.toBe(0);
    expect(place.sandbox.ledger.documents.size).toBeLessThan(20);
    writeFiles(place.folder, { repaired: "" });
    expect(await run("sh", [...flags, "--resume-failed"], place)).toMatchObject({ code: 0 });
    expect(place.sandbox.ledger.documents.size).toBe(20);
    expect(sentTwice(place.sandbox)).toBe(0);
  });
});
