import { release } from "node:os";
import { existsSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { main } from "../main.ts";
import { startTestService, writeFiles, type TestService, type TestServiceOptions } from "../service.ts";
import { createTestContext } from "../support.ts";
import { tool } from "../../src/output/report/tool.ts";

/** What one command of a scenario runs with. */
export interface Play {
  env?: Record<string, string>;
  stdin?: string;
  /** The output goes to a terminal of 80 columns. */
  isTTY?: boolean;
  /** Files that the command writes; they are part of the transcript, and are then removed. */
  writes?: readonly string[];
}

/** A service whose commands are written down: command line, exit code, output and written files. */
export interface Played extends TestService {
  /** Runs a command line of words without spaces, and writes it down. */
  play(line: string, options?: Play): Promise<void>;
  /** Runs a command line that is only a preparation. */
  run(line: string): Promise<number>;
  write(files: Record<string, string | Uint8Array>): void;
  /** The transcript without what differs between two runs. */
  text(): string;
}

const startMs = Date.parse("2026-03-04T05:06:07.000Z");

/** Variables of a job of GitHub, whose summary is the file `summary.md`. */
export const inGithub = ({ folder }: TestService): Play => ({
  env: {
    GITHUB_ACTIONS: "true",
    GITHUB_WORKSPACE: folder,
    GITHUB_STEP_SUMMARY: join(folder, "summary.md"),
  },
  writes: ["summary.md"],
});

/** Each report of a command, `--report` included. */
export function reportsAs(...extensions: readonly string[]): { flags: string; writes: string[] } {
  const writes = extensions.map((extension) => `out.${extension}`);
  return { flags: writes.map((name) => `--report ${name}`).join(" "), writes };
}

function normalise(text: string, { sandbox, folder }: TestService): string {
  return text
    .replaceAll(sandbox.url, "http://service")
    .replaceAll(sandbox.url.replace("http://", ""), "service")
    .replaceAll(sandbox.url.replace("http://", "").replace(":", "&#58;"), "service")
    .replaceAll(dirname(realpathSync(folder)), "/home")
    .replaceAll(dirname(folder), "/home")
    .replaceAll(process.versions.node, "NODE")
    .replaceAll(`${process.platform} ${release()} ${process.arch}`, "SYSTEM")
    // Of an old Node alone.
    .replaceAll(/"details":(\s*)\[\s*"Node \d+ gets no more[^\]]*\]/g, '"details":$1[]')
    .replaceAll(/^.*Node \d+ gets no more security fixes.*\n/gm, "")
    .replaceAll(`${tool.name} ${tool.version}`, `${tool.name} VERSION`)
    .replaceAll(`"${tool.version}"`, '"VERSION"')
    .replaceAll(/<style>[^]*?<\/style>/g, "<style></style>")
    .replaceAll(/\b[\da-f]{64}\b/g, "SHA256")
    .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, "UUID")
    .replaceAll(/^(knowctl_oldest_unsent_\S+) \S+$/gm, "$1 CHANGED")
    // The clock of the test stands, that of the service goes on.
    .replaceAll(/\b\d+ days behind/g, "N days behind");
}

/** Characters that an editor would hide or a terminal obey, as escapes. */
const visible = (text: string): string =>
  text.replaceAll(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2066-\u2069\u202a-\u202e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** Starts a service whose time stands still, so that two runs print the same. */
export async function startPlayed(options: TestServiceOptions): Promise<Played> {
  const durations = vi.spyOn(performance, "now").mockReturnValue(1000);
  onTestFinished(() => durations.mockRestore());
  const service = await startTestService(options);
  const { folder: cwd, sandbox } = service;
  const parts: string[] = [];
  const runIn = async (line: string, { env = {}, stdin, isTTY = false }: Play) => {
    const context = createTestContext({
      cwd,
      // Without a live line, which depends on the speed of the machine.
      env: { ...service.env, ...(isTTY && { CI: "1" }), ...env },
      isTTY,
      ...(stdin === undefined ? {} : { stdin }),
    });
    const sleep: typeof context.sleep = async (ms, signal) => {
      await sandbox.idle();
      await context.sleep(ms, signal);
    };
    const code = await main(line.split(" "), {
      ...context,
      now: () => startMs,
      elapsed: () => 0,
      sleep,
    });
    return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
  };
  return {
    ...service,
    write: (files) => writeFiles(cwd, files),
    async run(line) {
      const { code } = await runIn(line, {});
      await sandbox.idle();
      return code;
    },
    async play(line, given = {}) {
      const { code, stdout, stderr } = await runIn(line, given);
      const where = given.isTTY ? " on a terminal" : "";
      parts.push(`$ knowctl ${line}${where}\nexit ${code}\n`);
      const streams = { stdout, stderr };
      for (const [name, text] of Object.entries(streams)) {
        if (text !== "") parts.push(`--- ${name}\n${text.endsWith("\n") ? text : `${text}\n`}`);
      }
      for (const name of given.writes ?? []) {
        const path = join(cwd, name);
        if (!existsSync(path)) continue;
        parts.push(`--- ${name}\n${readFileSync(path, "utf8")}`);
        rmSync(path);
      }
      parts.push("\n");
    },
    text: () => visible(normalise(parts.join(""), service)),
  };
}
