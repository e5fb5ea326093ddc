import { readFault } from "../../../api/transport/faults.ts";
import { shakeHands, type Handshake } from "../../../api/transport/handshake.ts";
import { codeOf } from "../../../errors.ts";
import { need, type Check, type Examination, type Verdict } from "../check.ts";

const dayMs = 86_400_000;
/** A certificate that ends sooner is a warning. */
const fewDays = 14;

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
  "if your company signs its own certificates, give its CA with --ca-file (caFile) or NODE_EXTRA_CA_CERTS";

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
        fixes: [clock, "else ask who runs the service for a certificate that is valid now"],
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
    `use a name of the certificate in the base URL, or have one made for ${host}`,
    "a page of the network (captive portal) or a proxy may answer instead of the service",
  ];
  return [{ message, fixes }];
}

function issuerProblem(shown: Handshake): Problem {
  if (shown.problem === "DEPTH_ZERO_SELF_SIGNED_CERT") {
    const fix = "if it is meant to be, give the certificate itself with --ca-file (caFile)";
    return { message: "the certificate is self-signed", fixes: [fix] };
  }
  const message = `the certificate is signed by an authority that is not known here: ${shown.issuer}`;
  if (shown.chainLength > 1) return { message, fixes: [caFix] };
  const chain =
    "or the server does not send its intermediate certificates: have its chain completed";
  return { message, fixes: [caFix, chain] };
}

/** Everything that is wrong with a certificate, each by itself; the handshake names only the first. */
export function certificateProblems(shown: Handshake, host: string, now: number): Problem[] {
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

/** What a handshake shows, as a verdict. `now` in milliseconds since the epoch. */
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
  if (shown.validTo - now > fewDays * dayMs) return { status: "ok", message, details: [facts] };
  return {
    status: "warning",
    message: `the certificate expires in ${left}, on ${day(shown.validTo)}`,
    fixes: ["have it renewed, or see why its renewal does not run"],
    details: [facts],
  };
}

/** The port answers, but not with TLS. */
const noTls =
  /WRONG_VERSION_NUMBER|PACKET_LENGTH|UNKNOWN_PROTOCOL|HTTP_REQUEST|ERR_SSL_RECORD|UNEXPECTED_MESSAGE/;

function handshakeFailed(error: unknown, origin: string): Verdict {
  const code = codeOf(error) ?? "";
  const isOwn = !code.startsWith("PROXY_");
  if (isOwn && (noTls.test(code) || (code === "EPROTO" && noTls.test(String(error))))) {
    return {
      status: "failure",
      exit: "unreachable",
      message: `the port of ${origin} does not speak TLS, but something else (${code})`,
      fixes: [
        "if it is a service on plain http, write http:// in the base URL (only where the network is safe)",
        "else check the port",
      ],
    };
  }
  const fault = error instanceof Error ? readFault(error, true) : undefined;
  if (!fault) throw error;
  return {
    status: "failure",
    exit: fault.exit,
    message: `no TLS with ${origin}: ${fault.words}${fault.words.includes(code) ? "" : ` (${code})`}`,
    fixes: fault.hints,
  };
}

async function examineTls(examination: Examination, signal: AbortSignal): Promise<Verdict> {
  const { options, connection } = need(examination, "connected");
  const { origin, protocol, hostname } = new URL(connection.baseUrl);
  if (protocol !== "https:") {
    const isHere =
      need(examination, "hop").what === "service" && /^(?:localhost|127\.|\[::1)/.test(hostname);
    return isHere
      ? { status: "skipped", message: "not used: http on this machine" }
      : {
          status: "warning",
          message: `not used: everything, keys too, goes to ${origin} unencrypted`,
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
