import { header } from "../../../api/transport/headers.ts";
import type { Answer } from "../../../api/transport/exchange.ts";
import { readServiceWords, shorten } from "../../../api/answers/words.ts";
import type { Verdict } from "../check.ts";
import { firewallOf } from "./firewalls.ts";

/** Who gave an answer: the service itself, or something that stands where it should. */
export type Answerer =
  | "service"
  | "other-json"
  | "web-container"
  | "web-ui"
  | "login"
  | "portal"
  | "firewall"
  | "gateway"
  | "redirect"
  | "missing"
  | "page";

export interface Judged {
  who: Answerer;
  /** What came, and from whom, without a judgement on the base URL. */
  words: string;
  fixes: string[];
}

const scanned = 64 * 1024;
const textOf = (answer: Answer): string => answer.body.toString("utf8", 0, scanned);

const looksLikeLogin =
  /type=["']?password|<title[^>]{0,100}>[^<]{0,100}(?:sign[ -]?in|log[ -]?in|anmeld|single sign|authenticat)|SAMLRequest|name=["']?SAMLResponse/i;
const looksLikePortal =
  /captive|hotspot|walled.?garden|wi-?fi|guest (?:access|network)|<WISPAccessGatewayParam/i;
const looksLikeUi = /__next|\/_next\/|id=["']?(?:root|app)["'\s>]/i;
const loginPath = /\/(?:login|signin|sign-in|auth|oauth2?|sso|saml2?|adfs|authorize)(?:[/?.]|$)/i;

function judgeRedirect(answer: Answer, url: string): Judged {
  const location = header(answer.headers, "location") ?? "";
  const from = new URL(url);
  const to = URL.canParse(location, url) ? new URL(location, url) : undefined;
  const where = to ? shorten(to.origin + to.pathname, 200) : "nowhere";
  const told = (words: string, ...fixes: string[]): Judged => ({
    who: "redirect",
    words: `${answer.status}: a redirect to ${where}, ${words}`,
    fixes,
  });
  if (!to) return told("which leads nowhere", "check the base URL");
  const isSame = to.pathname === from.pathname && to.hostname === from.hostname;
  if (isSame && from.protocol === "http:" && to.protocol === "https:") {
    return told("the same over https", `write ${to.origin} in the base URL`);
  }
  if (loginPath.test(to.pathname)) {
    return {
      ...told(
        "a login page",
        "a login stands in front of the service: ask for a way in for programs (an address without it, or a bypass for /api)",
      ),
      who: "login",
    };
  }
  const bare = from.pathname.replace(/\/$/, "");
  if (to.hostname === from.hostname && bare.endsWith(to.pathname) && to.pathname !== bare) {
    const lost = bare.slice(0, bare.length - to.pathname.length);
    return told(
      `the same without ${lost}`,
      "the service redirects a trailing slash to an address without /api: something on the way adds the slash or takes /api off",
    );
  }
  if (to.hostname === from.hostname && /^\/app(?:\/|$)/.test(to.pathname)) {
    return {
      ...told("the web interface", "requests do not get to the service but to its web interface"),
      who: "web-ui",
    };
  }
  if (to.hostname !== from.hostname) {
    return {
      ...told(
        "another host",
        `if ${shorten(to.origin, 200)} is the service, write that in the base URL`,
        "on a guest network, open a page in a browser first: it may ask for consent",
      ),
      who: looksLikePortal.test(to.href) ? "portal" : "redirect",
    };
  }
  return told("which is not followed", "check the base URL");
}

function judgePage(answer: Answer): Judged {
  const { status } = answer;
  const page = textOf(answer);
  const type = header(answer.headers, "content-type") ?? "no content type";
  const title =
    readServiceWords(answer.body, type, status).text || `an answer of type ${shorten(type, 80)}`;
  const what = `${status}: ${title}`;
  const server = header(answer.headers, "server");
  const by = server === undefined ? "" : ` (server ${shorten(server, 60)})`;
  if (status === 511 || looksLikePortal.test(page.slice(0, 8192))) {
    return {
      who: "portal",
      words: `${what}, the page of a network that wants consent`,
      fixes: ["open any page in a browser and log in to the network, then try again"],
    };
  }
  const firewall = firewallOf(answer, page);
  if (firewall !== undefined) {
    return {
      who: "firewall",
      words: `${what}: ${firewall} refuses the request${by}`,
      fixes: [
        "ask who runs it to let requests of this machine through to /api (the bundle names time and address)",
      ],
    };
  }
  if (
    looksLikeLogin.test(page) ||
    header(answer.headers, "www-authenticate")?.match(/^(?:basic|negotiate|ntlm|digest)/i)
  ) {
    return {
      who: "login",
      words: `${what}, a login page`,
      fixes: [
        "a login stands in front of the service: ask for a way in for programs (an address without it, or a bypass for /api)",
      ],
    };
  }
  if (status >= 500) {
    return {
      who: "gateway",
      words: `${what}${by}: the proxy in front answers, the service behind it does not`,
      fixes: ["the service is down, starts, or is overloaded: try again, or tell who runs it"],
    };
  }
  if (status === 401 || status === 403) {
    return {
      who: "firewall",
      words: `${what}${by}: refused by something in front of the service`,
      fixes: ["ask who runs it to let requests of this machine through to /api"],
    };
  }
  if (looksLikeUi.test(page))
    return { who: "web-ui", words: `${what}, the web interface instead of the service`, fixes: [] };
  if (status === 404 || status === 405) return { who: "missing", words: `${what}${by}`, fixes: [] };
  return { who: "page", words: `${what}${by}, not an answer of the service`, fixes: [] };
}

function parse(answer: Answer): unknown {
  try {
    return JSON.parse(answer.body.toString("utf8"));
  } catch {
    return undefined;
  }
}

function judgeJson(answer: Answer, value: unknown): Judged {
  const { status } = answer;
  const { text } = readServiceWords(answer.body, "application/json", status);
  if (status === 404 && /only available in development mode/i.test(text)) {
    return {
      who: "web-container",
      words: `404: "${shorten(text, 80)}"`,
      fixes: [
        "this is the container of the web interface, reached directly: use the address of the proxy in front of it (often port 80 or 443 instead of 3000)",
      ],
    };
  }
  if (status === 401 || status === 403)
    return { who: "service", words: `${status} without a key, as it should`, fixes: [] };
  if (status === 200 && Array.isArray(value))
    return { who: "service", words: "200 without a key", fixes: [] };
  // Some services repeat the status in their words.
  const own = shorten(text, 160).replace(new RegExp(`^${status}: `), "");
  const what = own === "" ? String(status) : `${status}: ${own}`;
  if (status === 404 || status === 405) return { who: "missing", words: what, fixes: [] };
  if (status === 429)
    return { who: "gateway", words: what, fixes: ["too many requests from here: try again later"] };
  if (status >= 500)
    return {
      who: "gateway",
      words: what,
      fixes: ["the service has a fault: try again later, or tell who runs it"],
    };
  return { who: "other-json", words: `${what}, JSON that is no answer of the service`, fixes: [] };
}

/** Who answered the listing of connectors, asked without a key. `url` is what was asked for. */
export function judgeAnswer(answer: Answer, url: string): Judged {
  const { status } = answer;
  if (status >= 300 && status < 400) return judgeRedirect(answer, url);
  if (status === 400 && /plain HTTP request was sent to HTTPS port/i.test(textOf(answer))) {
    return {
      who: "gateway",
      words: "400: the port speaks TLS, and was spoken to without",
      fixes: ["write https:// in the base URL"],
    };
  }
  const type = header(answer.headers, "content-type") ?? "";
  const value = /json/i.test(type) ? parse(answer) : undefined;
  return value === undefined ? judgePage(answer) : judgeJson(answer, value);
}

/** The verdict on an answer that is not the service's, with what else is known to help. */
export function refusedAnswer(judged: Judged, more: readonly string[]): Verdict {
  const exit = judged.who === "missing" ? "not-found" : "server-error";
  const fixes = [...more, ...judged.fixes];
  return {
    status: "failure",
    exit,
    message: judged.words,
    fixes:
      fixes.length > 0
        ? fixes
        : ["check the base URL: it should be the address of the service itself"],
  };
}
