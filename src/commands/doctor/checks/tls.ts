import { isLoopback } from "../../../config/values/url.ts";
import { readFault } from "../../../api/transport/faults.ts";
import { shakeHands, type Handshake } from "../../../api/transport/handshake.ts";
import { codeOf } from "../../../errors.ts";
import { need, type Check, type Examination, type Verdict } from "../check.ts";

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
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CERT_UNTRUSTED",
]);

function timeProblems(shown: Handshake, now: number): Problem[] {
  const clock = `if the clock of this machine is wrong (it says ${day(now)}), set it`;
  if (shown.validTo < now) {
    const ago = daysBetween(shown.validTo, now);
    return [
      {
        message: `the certificate expired on ${day(shown.validTo)}, ${ago} ago`,
        fixes: ["have the certificate of the service renewed", clock],
      },
    ];
  }
  if (shown.validFrom > now) {
    return [
      {
        message: `the certificate is not valid before ${day(shown.validFrom)}`,
        fixes: [clock, "else ask the service's operator for a valid certificate"],
      },
    ];
  }
  return [];
}

function nameProblems(shown: Handshake, host: string): Problem[] {
  if (shown.fitsHost) return [];
  const names = shown.names.slice(0, 5).join(", ");
  const message = `the certificate is for another host: ${names}, not ${host}`;
  const fixes = [
    `use a name of the certificate in the base URL, or get a certificate for ${host}`,
    "a captive portal or a proxy may respond instead of the service",
  ];
  return [{ message, fixes }];
}

function issuerProblem(shown: Handshake): Problem {
  if (shown.problem === "DEPTH_ZERO_SELF_SIGNED_CERT") {
    const fix = "if this is intended, set the certificate itself with --ca-file (caFile)";
    return { message: "the certificate is self-signed", fixes: [fix] };
  }
  const message = `the certificate is signed by an unknown authority: ${shown.issuer}`;
  if (shown.chainLength > 1) return { message, fixes: [caFix] };
  const chain = "or the server does not send its intermediate certificates: complete its chain";
  return { message, fixes: [caFix, chain] };
}

/** All problems of a certificate; the handshake reports only the first. */
function certificateProblems(shown: Handshake, host: string, now: number): Problem[] {
  const { problem } = shown;
  const found = [...timeProblems(shown, now), ...nameProblems(shown, host)];
  if (problem !== undefined && unknownIssuers.has(problem)) found.push(issuerProblem(shown));
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
  const [first, ...others] = certificateProblems(shown, host, now);
  const facts = `${shown.protocol}, signed by ${shown.issuer}, for ${shown.names.slice(0, 5).join(", ")}`;
  if (first) {
    return {
      status: isUnchecked ? "warning" : "failure",
      exit: "unreachable",
      message: [first, ...others].map(({ message }) => message).join("; and "),
      fixes: [...new Set([first, ...others].flatMap(({ fixes }) => fixes))],
      details: [facts, ...(isUnchecked ? ["accepted: certificates are not checked"] : [])],
    };
  }
  const left = daysBetween(now, shown.validTo);
  const message = `${shown.protocol}, signed by ${shown.issuer}, ${left} left`;
  if (shown.validTo - now > warningDays * dayMs) return { status: "ok", message, details: [facts] };
  return {
    status: "warning",
    message: `the certificate expires in ${left}, on ${day(shown.validTo)}`,
    fixes: ["renew it, or check why its automatic renewal does not run"],
    details: [facts],
  };
}

/** Error codes of a port that responds without TLS. */
const noTls =
  /WRONG_VERSION_NUMBER|PACKET_LENGTH|UNKNOWN_PROTOCOL|HTTP_REQUEST|ERR_SSL_RECORD|UNEXPECTED_MESSAGE/;

function handshakeFailed(error: unknown, origin: string): Verdict {
  const code = codeOf(error) ?? "";
  const isOwn = !code.startsWith("PROXY_");
  if (isOwn && (noTls.test(code) || (code === "EPROTO" && noTls.test(String(error))))) {
    return {
      status: "failure",
      exit: "unreachable",
      message: `the port of ${origin} does not use TLS (${code})`,
      fixes: [
        "if the service uses plain http, write http:// in the base URL (only on a safe network)",
        "else check the port",
      ],
    };
  }
  const fault = error instanceof Error ? readFault(error, true) : undefined;
  if (!fault) throw error;
  return {
    status: "failure",
    exit: fault.exit,
    message: `no TLS connection to ${origin}: ${fault.words}${fault.words.includes(code) ? "" : ` (${code})`}`,
    fixes: fault.hints,
  };
}

async function examineTls(examination: Examination, signal: AbortSignal): Promise<Verdict> {
  const { options, connection } = need(examination, "connected");
  const { origin, protocol, hostname } = new URL(connection.baseUrl);
  if (protocol !== "https:") {
    const isHere = need(examination, "hop").what === "service" && isLoopback(hostname);
    return isHere
      ? { status: "skipped", message: "not used: http on this machine" }
      : {
          status: "warning",
          message: `not used: all data, including keys, is sent to ${origin} unencrypted`,
          fixes: ["use https:// in the base URL"],
        };
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
