import { header } from "../../../api/transport/headers.ts";
import type { Answer } from "../../../api/transport/exchange.ts";
import { shorten } from "../../../api/answers/shorten.ts";
import { readServiceWords } from "../../../api/answers/words.ts";
import type { Verdict } from "../check.ts";
import { firewallOf } from "./firewalls.ts";

/** Who sent a response: the service, or something in its place. */
export type Responder =
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
  who: Responder;
  /** The response and its sender, without a judgement on the base URL. */
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
  const where = to ? shorten(to.origin + to.pathname, 200) : "an invalid address";
  const redirectTo = (words: string, ...fixes: string[]): Judged => ({
    who: "redirect",
    words: `${answer.status}: a redirect to ${where}, ${words}`,
    fixes,
  });
  if (!to) return redirectTo("which cannot be followed", "check the base URL");
  const isSame = to.pathname === from.pathname && to.hostname === from.hostname;
  if (isSame && from.protocol === "http:" && to.protocol === "https:") {
    return redirectTo("the same address over https", `use ${to.origin} in the base URL`);
  }
  if (loginPath.test(to.pathname)) {
    return {
      ...redirectTo(
        "a login page",
        "a login protects the service: ask for access for programs (an address without the login, or a bypass for /api)",
      ),
      who: "login",
    };
  }
  const bare = from.pathname.replace(/\/$/, "");
  if (to.hostname === from.hostname && bare.endsWith(to.pathname) && to.pathname !== bare) {
    const lost = bare.slice(0, bare.length - to.pathname.length);
    return redirectTo(
      `the same address without ${lost}`,
      "the service redirects a trailing slash to an address without /api: a proxy on the way adds the slash or removes /api",
    );
  }
  if (to.hostname === from.hostname && /^\/app(?:\/|$)/.test(to.pathname)) {
    return {
      ...redirectTo("the web interface", "requests reach the web interface instead of the service"),
      who: "web-ui",
    };
  }
  if (to.hostname !== from.hostname) {
    return {
      ...redirectTo(
        "another host",
        `if ${shorten(to.origin, 200)} is the service, use it in the base URL`,
        "on a guest network, open any page in a browser first and accept its terms",
      ),
      who: looksLikePortal.test(to.href) ? "portal" : "redirect",
    };
  }
  return redirectTo("which is not followed", "check the base URL");
}

function judgePage(answer: Answer): Judged {
  const { status } = answer;
  const page = textOf(answer);
  const type = header(answer.headers, "content-type") ?? "no content type";
  const title =
    readServiceWords(answer.body, type, status).text || `a response of type ${shorten(type, 80)}`;
  const what = `${status}: ${title}`;
  const server = header(answer.headers, "server");
  const by = server === undefined ? "" : ` (server ${shorten(server, 60)})`;
  if (status === 511 || looksLikePortal.test(page.slice(0, 8192))) {
    return {
      who: "portal",
      words: `${what}, the login page of a network`,
      fixes: ["open any page in a browser and log in to the network, then run the command again"],
    };
  }
  const firewall = firewallOf(answer, page);
  if (firewall !== undefined) {
    return {
      who: "firewall",
      words: `${what}: ${firewall} blocks the request${by}`,
      fixes: [
        "ask its operator to allow requests from this machine to /api (the bundle has time and address)",
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
        "a login protects the service: ask for access for programs (an address without the login, or a bypass for /api)",
      ],
    };
  }
  if (status >= 500) {
    return {
      who: "gateway",
      words: `${what}${by}: the proxy responds, but the service behind it does not`,
      fixes: ["the service is down, starting, or overloaded: try again, or inform its operator"],
    };
  }
  if (status === 401 || status === 403) {
    return {
      who: "firewall",
      words: `${what}${by}: refused by a proxy or firewall in front of the service`,
      fixes: ["ask its operator to allow requests from this machine to /api"],
    };
  }
  if (looksLikeUi.test(page))
    return { who: "web-ui", words: `${what}, the web interface instead of the service`, fixes: [] };
  if (status === 404 || status === 405) return { who: "missing", words: `${what}${by}`, fixes: [] };
  return { who: "page", words: `${what}${by}, not a response of the service`, fixes: [] };
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
    return { who: "service", words: `${status} without a key, as expected`, fixes: [] };
  if (status === 200 && Array.isArray(value))
    return { who: "service", words: "200 without a key", fixes: [] };
  // Some services repeat the status in their message.
  const own = shorten(text, 160).replace(new RegExp(`^${status}: `), "");
  const what = own === "" ? String(status) : `${status}: ${own}`;
  if (status === 404 || status === 405) return { who: "missing", words: what, fixes: [] };
  if (status === 429)
    return { who: "gateway", words: what, fixes: ["too many requests from here: try again later"] };
  if (status >= 500)
    return {
      who: "gateway",
      words: what,
      fixes: ["the service has an internal error: try again later, or inform its operator"],
    };
  return {
    who: "other-json",
    words: `${what}, JSON that is not a response of the service`,
    fixes: [],
  };
}

/** Judges who responded to the connector listing, requested from `url` without a key. */
export function judgeAnswer(answer: Answer, url: string): Judged {
  const { status } = answer;
  if (status >= 300 && status < 400) return judgeRedirect(answer, url);
  if (status === 400 && /plain HTTP request was sent to HTTPS port/i.test(textOf(answer))) {
    return {
      who: "gateway",
      words: "400: the port expects TLS, but the base URL has http://",
      fixes: ["write https:// in the base URL"],
    };
  }
  const type = header(answer.headers, "content-type") ?? "";
  const value = /json/i.test(type) ? parse(answer) : undefined;
  return value === undefined ? judgePage(answer) : judgeJson(answer, value);
}

/** The verdict on a response that is not from the service; `more` are additional fixes. */
export function wrongResponder(judged: Judged, more: readonly string[]): Verdict {
  const exit = judged.who === "missing" ? "not-found" : "server-error";
  const fixes = [...more, ...judged.fixes];
  return {
    status: "failure",
    exit,
    message: judged.words,
    fixes:
      fixes.length > 0
        ? fixes
        : ["check the base URL: it must be the address of the service itself"],
  };
}
