import { failureOfFault, redirected, refused, unexpected } from "./answers/answers.ts";
import { header } from "./transport/headers.ts";
import type { Question, Result } from "./answers/answers.ts";
import { readErrorBody, type Answer, type StreamedAnswer } from "./transport/exchange.ts";
import type { Redactor } from "./answers/redaction.ts";
import { shorten } from "./answers/words.ts";

/** The body as it comes, its faults told as those of any other call. */
async function* told(
  question: Question,
  body: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw failureOfFault(question, error, false).error;
  }
}

/**
 * Reads the head of an answer that may be of any kind. A redirect and an error
 * status are failures; `onRefused` is given such an answer, with the beginning of
 * its body, so that a user can see all of it.
 */
export async function readRaw(
  question: Question,
  answer: StreamedAnswer,
  {
    now,
    secrets,
    onRefused,
  }: {
    now: number;
    secrets: Redactor;
    onRefused?: ((answer: Answer) => void) | undefined;
  },
): Promise<Result<StreamedAnswer>> {
  const { status, headers } = answer;
  if (status >= 200 && status < 300) {
    const coding = header(headers, "content-encoding");
    if (coding === undefined || coding === "identity") {
      return { ok: true, value: { ...answer, body: told(question, answer.body) } };
    }
    await answer.body.return(undefined);
    const words = `unexpected answer (${shorten(coding, 40)} coding)`;
    return { ok: false, failure: unexpected(question, status, words) };
  }
  const whole = await readErrorBody(answer, secrets);
  await answer.body.return(undefined);
  onRefused?.(whole);
  const failure = status < 400 ? redirected(question, whole) : refused(question, whole, now);
  return { ok: false, failure };
}
