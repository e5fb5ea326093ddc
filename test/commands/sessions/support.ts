import type { SandboxOptions } from "../../../src/sandbox/options.ts";
import { main } from "../../main.ts";
import { createTestContext, type TestContextOptions } from "../../support.ts";
import { createWorld, upload, type Result, type World } from "../chat/support.ts";

export interface SessionsWorld extends World {
  /** Any command, not only `chat`. */
  command(args: string[], options?: TestContextOptions): Promise<Result & { sleeps: number[] }>;
  /** Asks a question; the id of its session. */
  ask(...args: string[]): Promise<string>;
}

/** A world whose service keeps sessions, with a document in it. */
export async function createSessionsWorld(
  options: Partial<SandboxOptions> = {},
): Promise<SessionsWorld> {
  const world = await createWorld({ dialect: "onyx", ...options });
  if (options.dialect === "standard") await upload(world, "leave", "Leave", "Request leave early.");
  const command: SessionsWorld["command"] = async (args, given = {}) => {
    const context = createTestContext({ cwd: world.home, env: world.env, ...given });
    const code = await main(args, context);
    const { sleeps } = context;
    return { code, stdout: context.stdoutText(), stderr: context.stderrText(), sleeps };
  };
  return {
    ...world,
    command,
    async ask(...args) {
      const { stdout, stderr } = await world.run(["--json", ...args]);
      const { sessionId } = JSON.parse(stdout) as { sessionId: string | null };
      if (sessionId === null) throw new Error(`no session: ${stderr}`);
      return sessionId;
    },
  };
}

export const sessionPath = "/api/chat/get-chat-session/";
export const listPath = "/api/chat/get-user-chat-sessions";
