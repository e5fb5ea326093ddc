import { findOtherDialect } from "../../../api/other-dialect.ts";
import { ApiError } from "../../../errors.ts";
import type { UploadSession } from "../session.ts";

/**
 * The error to report for a run that `error` stopped: of an upload to an endpoint that
 * the service does not have, the one that names the dialect of the service.
 */
export async function explainMissingEndpoint(
  { client }: UploadSession["connected"],
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof ApiError) || (error.status !== 404 && error.status !== 405)) return error;
  const { ingestion } = client.dialect.paths;
  if (error.url !== client.url(ingestion)) return error;
  const found = await findOtherDialect(client).catch(() => undefined);
  if (!found?.isMissing) return error;
  const { method, url, status, code } = error;
  const { other, path = "" } = found;
  const lacks = `the service has no ${url} (${status})`;
  const told =
    other === undefined
      ? `${lacks}; cannot tell which dialect it speaks`
      : `${lacks}, but it has ${client.url(path)}: it speaks the ${other} dialect, this run used ${client.dialect.name}`;
  const hints =
    other === undefined
      ? ["check the base URL and --dialect; `knowctl doctor` shows what answers there"]
      : [`use --dialect ${other}, or set "dialect": "${other}" in the profile`];
  return new ApiError("not-found", told, { method, url, status, code, hints, cause: error });
}
