import type { VerifiedDocument } from "../../../checks/verify/evidence.ts";
import type { Context } from "../../../context.ts";
import { ciPrefix } from "../../../output/report/ci/ci.ts";
import { findGitRoot } from "../../project-root.ts";
import type { Session } from "../session.ts";

type Told = Pick<Session, "output" | "source">;

/** Prints the documents that `--verify` did not find as sent. */
export async function tellLost(
  lost: readonly VerifiedDocument[],
  { output, source }: Told,
): Promise<void> {
  const { verifiedText } = await import("../../../output/verify.ts");
  for (const each of lost) await output.problem(...verifiedText(each, source.shown));
}

/** In a GitHub job, shows these documents beside their files. */
export async function annotateLost(
  context: Context,
  lost: readonly VerifiedDocument[],
  { output, source }: Told,
): Promise<void> {
  if (!context.env["GITHUB_ACTIONS"]) return;
  const { verifyAnnotations } = await import("../../../output/report/verify-report.ts");
  const { root } = source.settings;
  const prefix = ciPrefix({ root, gitRoot: findGitRoot(context, root) }, context.env);
  for (const each of verifyAnnotations(lost, prefix)) await output.annotate(each);
}
