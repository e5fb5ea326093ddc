import { CliError } from "../../../errors.ts";

function refused(why: string): CliError {
  return new CliError("usage", `--llm-url: ${why}`, {
    hints: ["name the server's base address, for example --llm-url http://127.0.0.1:11434/v1"],
  });
}

/**
 * The completions endpoint of an OpenAI-compatible server. `base` is its base address with or
 * without `/v1`, or the endpoint itself. A version in the path (`/v1beta/openai`) replaces
 * `/v1`; a query (`?api-version=…`) is kept. Throws CliError `usage` for an address that is
 * not http(s) or holds a secret.
 */
export function completionsUrl(base: string): URL {
  const url = URL.canParse(base) ? new URL(base) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw refused("is not an http or https address");
  if (url.username !== "" || url.password !== "") {
    // The message omits the address: it holds a secret.
    throw refused("holds a user name or password; put the key in KNOWCTL_SANDBOX_LLM_KEY");
  }
  url.hash = "";
  const path = url.pathname.replace(/\/+$/, "");
  if (path.endsWith("/chat/completions")) url.pathname = path;
  else if (/\/v\d/.test(path)) url.pathname = `${path}/chat/completions`;
  else url.pathname = `${path}/v1/chat/completions`;
  return url;
}
