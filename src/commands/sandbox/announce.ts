import type { Output } from "../../output/terminal/output.ts";
import { bold, dim, link } from "../../output/terminal/text.ts";
import type { Sandbox } from "../../sandbox/http/server.ts";
import { type Answers, describeAnswers } from "./answers.ts";

export const keyVariable = "KNOWCTL_SANDBOX_KEY";
export const publicKey = "sandbox";

interface Facts {
  folder: string;
  dialect: string;
  ownKey: boolean;
  faults: string | undefined;
  answers: Answers;
}

/** Writes the sandbox's address, settings and a first command; for a script, the address to stdout. */
export async function announce(output: Output, { url }: Sandbox, facts: Facts): Promise<void> {
  const { folder, dialect, ownKey, faults, answers } = facts;
  const key = ownKey ? `"$${keyVariable}"` : publicKey;
  const flags = dialect === "standard" ? "" : ` --dialect ${dialect}`;
  // A script with --port 0 reads the address here.
  if (!output.isTerminal) await output.line(url);
  await output.note(bold("knowctl sandbox"), ": a local service with the same interface");
  await output.note(
    "  address  ",
    link(url, url),
    dim("  (open it in a browser: questions, documents, connectors, faults)"),
  );
  await output.note("  key      ", ownKey ? `the value of ${keyVariable}` : publicKey);
  await output.note("  data     ", folder);
  await output.note("  dialect  ", dialect);
  await output.note("  answers  ", describeAnswers(answers));
  if (faults !== undefined) await output.note("  faults   ", faults);
  await output.note("Try it in another terminal (Ctrl-C here ends the sandbox):");
  await output.note(`  KNOWCTL_API_KEY=${key} knowctl connectors list --base-url ${url}${flags}`);
  await output.flush();
}
