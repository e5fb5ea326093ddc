import { isLoopback } from "../../../config/values/url.ts";
import { readFault } from "../../../api/transport/faults.ts";
import { shakeHands, type Handshake } from "../../../api/transport/handshake.ts";
import { codeOf } from "../../../errors.ts";
import {
  failure,
  need,
  ok,
  skipped,
  warning,
  type Check,
  type Examination,
  type Verdict,
} from "../check.ts";

const dayMs = 86_400_000;
/** A certificate that expires within these days is a warning. */
const warningDays = 14;

const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const daysBetween = (from: number, to: number): string => {
  const days = Math.floor((to - from) / dayMs);
  return days === 1 ? "1 day" : `${days} days`;
};

interface Problem {
  message: string;
  fixes: string[];
}

const caFix =
  "if your company signs its own certificates, set its CA with --ca-file (caFile) or NODE_EXTRA_CA_CERTS";

const unknownIssuers = new Set([
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CERT_UNTRUSTED",
]);

/** Problems of a certificate's time, name and issuer, as far as they are known. */
function ownProblems(shown: Handshake, host: string, now: number): Problem[] {
  const clock = `if the clock of this machine is wrong (it says ${day(now)}), set it`;
  const { problem, validFrom, validTo, names } = shown;
  const found: Problem[] = [];
  if (validTo < now) {
    found.push({
      message: `the certificate expired on ${day(validTo)}, ${daysBetween(validTo, now)} ago`,
      fixes: ["have the certificate of the service renewed", clock],
    });
  } else if (validFrom > now) {
    found.push({
      message: `the certificate is not valid before ${day(validFrom)}`,
      fixes: [clock, "else ask the service's operator for a valid certificate"],
    });
  }
  if (!shown.fitsHost) {
    found.push({
      message: `the certificate is for another host: ${names.slice(0, 5).join(", ")}, not ${host}`,
      fixes: [
        `use a name of the certificate in the base URL, or get a certificate for ${host}`,
        "a captive portal or a proxy may respond instead of the service",
      ],
    });
  }
  if (problem === "DEPTH_ZERO_SELF_SIGNED_CERT") {
    const fix = "if this is intended, set the certificate itself with --ca-file (caFile)";
    found.push({ message: "the certificate is self-signed", fixes: [fix] });
  } else if (problem !== undefined && unknownIssuers.has(problem)) {
    const chain = "or the server does not send its intermediate certificates: complete its chain";
    found.push({
      message: `the certificate is signed by an unknown authority: ${shown.issuer}`,
      fixes: shown.chainLength > 1 ? [caFix] : [caFix, chain],
    });
  }
  return found;
}

/** All problems of a certificate; the handshake reports only the first. */
function certificateProblems(shown: Handshake, host: string, now: number): Problem[] {
  const { problem } = shown;
  const found = ownProblems(shown, host, now);
  if (found.length > 0 || problem === undefined) return found;
  if (problem === "CERT_HAS_EXPIRED") {
    const message = "a certificate in the chain has expired, though the server's own has not";
    return [{ message, fixes: ["have the chain of the service renewed", caFix] }];
  }
  const fault = readFault(Object.assign(new Error(problem), { code: problem }), true);
  return [{ message: fault?.words ?? problem, fixes: fault?.hints ?? [caFix] }];
}

/** Judges a handshake. `now` is in milliseconds since the epoch. */
export function judgeHandshake(
  shown: Handshake,
  host: string,
  now: number,
  isUnchecked: boolean,
): Verdict {
  const problems = certificateProblems(shown, host, now);
  const facts = `${shown.protocol}, signed by ${shown.issuer}, for ${shown.names.slice(0, 5).join(", ")}`;
  if (problems.length > 0) {
    const message = problems.map((each) => each.message).join("; and ");
    const fixes = [...new Set(problems.flatMap((each) => each.fixes))];
    return isUnchecked
      ? warning(message, fixes, [facts, "accepted: certificates are not checked"])
      : failure("unreachable", message, fixes, [facts]);
  }
  const left = daysBetween(now, shown.validTo);
  if (shown.validTo - now > warningDays * dayMs) {
    return ok(`${shown.protocol}, signed by ${shown.issuer}, ${left} left`, [facts]);
  }
  return warning(
    `the certificate expires in ${left}, on ${day(shown.validTo)}`,
    ["renew it, or check why its automatic renewal does not run"],
    [facts],
  );
}

/** Error codes of a port that responds without TLS. */
const noTls =
  /WRONG_VERSION_NUMBER|PACKET_LENGTH|UNKNOWN_PROTOCOL|HTTP_REQUEST|ERR_SSL_RECORD|UNEXPECTED_MESSAGE/;

function handshakeFailed(error: unknown, origin: string): Verdict {
  const code = codeOf(error) ?? "";
  const isOwn = !code.startsWith("PROXY_");
  if (isOwn && (noTls.test(code) || (code === "EPROTO" && noTls.test(String(error))))) {
    return failure("unreachable", `the port of ${origin} does not use TLS (${code})`, [
      "if the service uses plain http, write http:// in the base URL (only on a safe network)",
      "else check the port",
    ]);
  }
  const fault = error instanceof Error ? readFault(error, true) : undefined;
  if (!fault) throw error;
  const shown = fault.words.includes(code) ? "" : ` (${code})`;
  return failure(fault.exit, `no TLS connection to ${origin}: ${fault.words}${shown}`, fault.hints);
}

async function examineTls(examination: Examination, signal: AbortSignal): Promise<Verdict> {
  const { options, connection } = need(examination, "connected");
  const { origin, protocol, hostname } = new URL(connection.baseUrl);
  if (protocol !== "https:") {
    const isHere = need(examination, "hop").what === "service" && isLoopback(hostname);
    if (isHere) return skipped("not used: http on this machine");
    const message = `not used: all data, including keys, is sent to ${origin} unencrypted`;
    return warning(message, ["use https:// in the base URL"]);
  }
  let shown: Handshake;
  try {
    shown = await shakeHands(options, examination.limitMs, signal);
  } catch (error) {
    signal.throwIfAborted();
    return handshakeFailed(error, origin);
  }
  const now = examination.context.now();
  return judgeHandshake(shown, hostname, now, connection.allowInsecureTls);
}

export const checkTls: Check = { name: "tls", needs: ["tcp"], run: examineTls };
