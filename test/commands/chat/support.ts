import type { SandboxOptions } from "../../../src/sandbox/options.ts";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { main } from "../../main.ts";
import { startSandbox, type Sandbox } from "../../../src/sandbox/http/server.ts";
import {
  cleanEnvironment,
  createTestContext,
  temporaryFolder,
  type TestContextOptions,
} from "../../support.ts";
import { searchTurn } from "../../output/chat/lines.ts";

export interface World {
  sandbox: Sandbox;
  home: string;
  env: Record<string, string>;
  run(args: string[], options?: TestContextOptions): Promise<Result>;
  /** Body of the last question. */
  asked(): Record<string, unknown>;
}

export interface Result {
  code: number;
  stdout: string;
  stderr: string;
}

/** A sandbox of its own and a user whose environment leads there. */
export async function createWorld(options: Partial<SandboxOptions> = {}): Promise<World> {
  const home = temporaryFolder();
  const sandbox = await startSandbox({
    port: 0,
    dataFolder: join(home, "sandbox"),
    key: "sandbox",
    ...options,
  });
  onTestFinished(() => sandbox.close());
  const env = cleanEnvironment(home, {
    KNOWCTL_BASE_URL: sandbox.url,
    KNOWCTL_API_KEY: "sandbox",
    KNOWCTL_DIALECT: options.dialect ?? "standard",
  });
  return {
    sandbox,
    home,
    env,
    async run(args, given = {}) {
      const context = createTestContext({ cwd: home, env, ...given });
      const code = await main(["chat", ...args], context);
      return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
    },
    asked: () => sandbox.ledger.chats.at(-1) ?? expect.unreachable("nothing was asked"),
  };
}

/** Puts one document into the index. */
export async function upload(world: World, id: string, title: string, text: string): Promise<void> {
  const response = await fetch(`${world.sandbox.url}/api/svc-api/ingestion`, {
    method: "POST",
    headers: { authorization: "Bearer sandbox", "content-type": "application/json" },
    body: JSON.stringify({
      document: {
        id,
        semantic_identifier: title,
        sections: [{ text, link: `https://docs.example.com/${id}` }],
        source: "file",
        metadata: {},
      },
      cc_pair_id: 2,
    }),
  });
  expect(response.status).toBe(200);
  await world.sandbox.idle();
}

export const chatPath = "/api/chat/send-chat-message";

/** A world whose service answers every question with these lines, as they are. */
export function replay(lines: readonly (string | object)[], more: Partial<SandboxOptions> = {}) {
  const body = lines
    .map((line) => (typeof line === "string" ? line : JSON.stringify(line)))
    .join("\n");
  return createWorld({
    ...more,
    faults: {
      rules: [
        {
          when: { path: chatPath },
          do: { status: 200, headers: { "content-type": "text/event-stream" }, body: `${body}\n` },
        },
      ],
    },
  });
}

/** The lines of the fixture turn, and its answer. */
export const rawTurn = searchTurn.map((line) => line.raw);
export const answer = "Ask your manager [[1]](https://docs.example.com/leave).";
