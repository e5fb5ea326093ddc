import type { Gate } from "../../../api/retry/gate.ts";
import type { Context } from "../../../context.ts";
import type { ProgressState } from "../../../output/terminal/progress.ts";
import type { Plan } from "../../../sync/plan/plan.ts";
import type { Report } from "../report/report.ts";
import type { UploadSession } from "../session.ts";
import { createIdleCount, whySlow } from "./why-slow.ts";

type Followed = Pick<UploadSession, "connected" | "progress"> & {
  plan: Plan;
  report: Report;
  stream?: unknown;
};

/** Shows the upload on the progress line; `show` shows it again after other output. */
export function followUpload(
  { elapsed }: Context,
  { plan: { table }, stream, connected, report: { counts }, progress }: Followed,
  gate: Gate,
  sending: () => number,
): { add(documents: number): void; show(): void } {
  const { concurrency: ceiling, rate } = connected;
  const total = stream ? undefined : table.count("new") + table.count("changed");
  const idleFor = createIdleCount();
  let done = 0;
  const describe = (): ProgressState => {
    const seen = gate.state();
    const { retries, throttled } = seen;
    const count = sending();
    const idleMoments = idleFor(count, seen.limit);
    const now = elapsed();
    const slowBecause = whySlow({ gate: seen, now, ceiling, rate, sending: count, idleMoments });
    return { phase: "uploading", done, total, counts, retries, throttled, slowBecause };
  };
  progress.follow(describe);
  return {
    add: (documents) => void (done += documents),
    show: () => progress.follow(describe),
  };
}
