import { spawn } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { json, key, startServer } from "../commands/api/support.ts";
import { pair } from "../commands/pairs.ts";
import { follow } from "../ran.ts";
import { cleanEnvironment, projectFolder, runCli, temporaryFolder } from "../support.ts";

async function place(answer: Parameters<typeof startServer>[0]) {
  const server = await startServer(answer);
  const cwd = temporaryFolder();
  const env = cleanEnvironment(cwd, {
    KNOWCTL_BASE_URL: server.url,
    KNOWCTL_API_KEY: key,
  });
  return { ...server, cwd, env };
}

const everyByte = Buffer.from(Array.from({ length: 256 }, (_, index) => index));

describe("api", () => {
  it("writes every byte with --output raw, but the key that the service echoes", async () => {
    const { cwd, env } = await place(({ headers }, response) => {
      response.writeHead(200, { "content-type": "image/png" });
      response.write(everyByte);
      response.end(headers.authorization);
    });
    const script = join(projectFolder, "bin", "knowctl.cjs");
    const child = spawn(process.execPath, [script, "api", "x", "-o", "raw"], { cwd, env });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    const { ended } = follow(child, "knowctl api x -o raw", cwd, "stdout");
    expect((await ended).code).toBe(0);
    const all = Buffer.concat(chunks);
    expect(all.subarray(0, 256).equals(everyByte)).toBe(true);
    expect(all.subarray(256).toString()).toBe("Bearer ***");
  });

  it("ends quietly when its reader has gone, in the midst of an answer without end", async () => {
    const { cwd, env } = await place((_seen, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const more = (): void => {
        while (!response.destroyed && response.write(`"${"x".repeat(10_000)}",\n`));
      };
      response.on("drain", more);
      more();
    });
    const result = await runCli(["api", "x"], {
      cwd,
      env,
      onStart: (child) => child.stdout?.once("data", () => child.stdout?.destroy()),
    });
    expect(result).toMatchObject({ code: 0, stderr: "" });
  });

  it("sends what stdin brings", async () => {
    const { cwd, env, seen } = await place((_seen, response) => json(response, {}));
    const stdin = "x".repeat(300_000);
    const result = await runCli(["api", "PUT", "x", "--input", "-"], { cwd, env, stdin });
    expect(result.code).toBe(0);
    expect(seen[0]).toMatchObject({ method: "PUT", body: stdin });
  });
});

describe("connectors status --watch", () => {
  it.each(["SIGINT", "SIGTERM"] as const)("is ended by %s at once", async (signal) => {
    const { cwd, env } = await place((_seen, response) => json(response, [pair({ id: 1 })]));
    const result = await runCli(["connectors", "status", "--watch", "3600"], {
      cwd,
      env,
      onStart: (child) => child.stdout?.once("data", () => child.kill(signal)),
    });
    expect(result.code).toBe(signal === "SIGINT" ? 130 : 143);
    expect(result.stdout).toMatch(/^listed\t1\tPair 1\t/);
    expect(result.stderr).toMatch(new RegExp(`does not report .*\\ninterrupted by ${signal}\\n$`));
  });
});
