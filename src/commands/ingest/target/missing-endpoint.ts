import { findOtherDialect } from "../../../api/other-dialect.ts";
import { withoutApi } from "../../../api/transport/without-api.ts";
import { ApiError } from "../../../errors.ts";
import type { UploadSession } from "../session.ts";

/**
 * Returns the error to report for a run that `error` stopped. If the service lacks the upload
 * endpoint, this is an error that names the service's dialect; otherwise `error` itself.
 */
export async function explainMissingEndpoint(
  { client }: UploadSession["connected"],
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof ApiError) || (error.status !== 404 && error.status !== 405)) return error;
  if (error.code === withoutApi) return error;
  const { ingestion } = client.dialect.paths;
  if (error.url !== client.url(ingestion)) return error;
  const found = await findOtherDialect(client).catch(() => undefined);
  if (!found?.isMissing) return error;
  const { method, url, status, code } = error;
  const { other, path = "" } = found;
  const lacks = `the service has no ${url} (${status})`;
  const message =
    other === undefined
      ? `${lacks}; its dialect is unknown`
      : `${lacks}, but it has ${client.url(path)}: it speaks the ${other} dialect, this run used ${client.dialect.name}`;
  const hints =
    other === undefined
      ? ["check the base URL and --dialect; `knowctl doctor` shows which service responds"]
      : [`use --dialect ${other}, or set "dialect": "${other}" in the profile`];
  return new ApiError("not-found", message, { method, url, status, code, hints, cause: error });
}
