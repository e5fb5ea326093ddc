import { createDocumentMatch } from "../../../../checks/eval/match-document.ts";
import type { Context } from "../../../../context.ts";
import type { Output } from "../../../../output/terminal/output.ts";
import { openProject } from "../folder.ts";
import type { EvalOptions } from "../options.ts";
import type { Prepared } from "../prepare.ts";
import { checkRecording, openRecording, type RecordingHead } from "./recording.ts";
import { createReplay } from "./replay.ts";
import type { ReplySource } from "../source.ts";

/** How the recorded run ended. A run that was killed recorded no end: its time is unknown. */
function endOf({
  elapsedMs,
  stopped,
}: RecordingHead): Pick<RecordingHead, "elapsedMs" | "stopped"> {
  if (elapsedMs !== undefined) return { elapsedMs, stopped };
  return { elapsedMs: 0, stopped: "the recorded run did not end" };
}

/**
 * Opens the recording of `--replay`, without a profile and without network. Throws CliError `usage`
 * for a recording of another suite, command, way or k.
 */
export async function openReplay(
  context: Context,
  output: Output,
  options: EvalOptions & { replay: string },
  { suites, k, rules }: Prepared,
): Promise<ReplySource & { head: RecordingHead }> {
  const { replay, via } = options;
  const recording = openRecording(context.cwd, replay);
  const { head } = recording;
  const named = suites.map(({ file, digest }) => ({ file, digest }));
  checkRecording(head, { kind: rules.kind, suites: named, k, via });
  const request = { suites, replayed: head.basis.dialect };
  const { root, names } = await openProject(context, options, output, request);
  return {
    replies: createReplay(recording),
    basis: { ...head.basis, suites: named, judge: rules.judges ? head.basis.judge : null },
    matches: createDocumentMatch(names),
    root,
    isSandbox: () => head.sandbox === true,
    close: () => Promise.resolve(),
    head: { ...head, ...endOf(head) },
  };
}
