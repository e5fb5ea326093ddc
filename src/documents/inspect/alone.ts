import { Worker } from "node:worker_threads";
import { CliError, codeOf, type ExitName } from "../../errors.ts";
import type { SourceFile } from "../files/source-file.ts";
import type { FormatName } from "../formats/format.ts";
import type { RawSettings } from "../map/settings/settings.ts";
import type { InspectSetup } from "./inspection.ts";
import { memoryLimits, tookTooLong, tooMuchMemory, workLimitMs } from "./pool.ts";

/** Work on one text of a converted format, outside of an inspection: its answer is plain data. */
export type AloneTask =
  | { kind: "explain"; file: SourceFile; row: number | undefined }
  | {
      kind: "text";
      bytes: Uint8Array;
      target: { id: string; format: FormatName };
      pair: InspectSetup["pair"];
    };

/** Start data of a worker thread for one task. */
export interface AloneData {
  alone: AloneTask;
  settings: RawSettings;
  checks: object | undefined;
}

/** What the thread answers: errors lose their class between threads. */
export type AloneReply =
  | { value: unknown }
  | { exit: ExitName; message: string; hints: readonly string[] };

/**
 * Does one task in a thread of its own, with the limits of the pool. `path` names the text in
 * messages. Throws CliError: what the task threw, or `usage` for a text that takes too much.
 */
export function runAlone<Value>(
  script: string | URL,
  data: AloneData,
  path: string,
): Promise<Value> {
  return new Promise((settle, fail) => {
    const worker = new Worker(script, { workerData: data, resourceLimits: memoryLimits });
    const end = (finish: () => void): void => {
      clearTimeout(timer);
      worker.removeAllListeners();
      void worker.terminate();
      finish();
    };
    const refuse = (reason: string): void =>
      end(() => fail(new CliError("usage", `${path}: ${reason}`, { hints: ["exclude the file"] })));
    const timer = setTimeout(() => refuse(tookTooLong(workLimitMs)), workLimitMs);
    worker.on("message", (reply: AloneReply) =>
      end(() => {
        if ("value" in reply) settle(reply.value as Value);
        else fail(new CliError(reply.exit, reply.message, { hints: reply.hints }));
      }),
    );
    worker.on("exit", () => refuse("the thread that read it ended unexpectedly"));
    worker.on("error", (error) => {
      if (codeOf(error) === "ERR_WORKER_OUT_OF_MEMORY") refuse(tooMuchMemory);
      else end(() => fail(error));
    });
  });
}
