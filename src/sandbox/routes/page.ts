import { publicKey } from "../options.ts";
import type { Call } from "../http/call.ts";
import { notFound, type Reply } from "../http/reply.ts";
import type { Route } from "../http/routes.ts";

const fileHeaders = {
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

/**
 * Allows the page's own files and requests to this origin, and nothing else. `'self'` would allow
 * a script from any path; text never becomes HTML (Trusted Types without a policy).
 */
function policyOf(host: string): string {
  // A policy cannot name an IPv6 address.
  const files = host.startsWith("[") ? "'self'" : `http://${host}/page/`;
  return [
    "default-src 'none'",
    `script-src ${files}`,
    `style-src ${files}`,
    `img-src ${files}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

// The files are loaded on demand: most sandboxes never show their page.
async function showPage(key: string, call: Call): Promise<Reply> {
  const { html } = await import("../page/assets.ts");
  const headers = {
    ...fileHeaders,
    "content-type": "text/html; charset=utf-8",
    // The guard has checked the host.
    "content-security-policy": policyOf(call.headers.host ?? ""),
  };
  // Only the public key is written into the page. Any other key is typed in.
  const own = `name="sandbox-key" content="${key === publicKey ? publicKey : ""}"`;
  return { status: 200, headers, body: html.replace('name="sandbox-key" content=""', own) };
}

async function sendFile(call: Call): Promise<Reply> {
  const { files } = await import("../page/assets.ts");
  const file = files.get(call.parameters["name"]!);
  if (!file) return notFound();
  return { status: 200, headers: { ...fileHeaders, "content-type": file.type }, body: file.body };
}

/** The page at `/`. Its files need no key: they contain nothing of the sandbox. */
export function pageRoutes(key: string): Route[] {
  const open = { method: "GET", open: true } as const;
  return [
    { ...open, path: "/", handle: (call) => showPage(key, call) },
    { ...open, path: "/page/:name", handle: sendFile },
  ];
}
