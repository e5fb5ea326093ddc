import type { Client } from "../../api/client.ts";
import type { Turn } from "../../output/chat/turn/answer.ts";
import { isOwnSearch } from "../../output/chat/filter-warnings.ts";
import type { Asked, Known } from "../../output/chat/warnings.ts";

/** Timeout of a look-up: the answer is complete, and nobody waits long for a warning. */
const lookUpTimeoutMs = 2000;

type Facts = Pick<Known, "tools" | "providers" | "anonymous">;

type LookUps = { [Name in keyof Facts]?: Promise<Facts[Name]> };

/**
 * Look-ups already made, by client and by view. A batch has one client; a conversation
 * has one view, and a client for each question.
 */
const cachedLookUps = new WeakMap<object, LookUps>();

/** Looks up once. A failed look-up returns null, and a later question may repeat it. */
function lookUp<Name extends keyof Facts>(
  started: LookUps,
  name: Name,
  ask: () => Promise<Facts[Name] | undefined>,
): () => Promise<Facts[Name]> {
  const find = async (): Promise<Facts[Name]> => {
    const found = (await ask().catch(() => null)) ?? null;
    if (found === null) delete started[name];
    return found as Facts[Name];
  };
  // Within one question, a look-up is not repeated.
  let asked: Promise<Facts[Name]> | undefined;
  return () => {
    if (asked === undefined) {
      asked = started[name] ?? find();
      started[name] = asked as LookUps[Name];
    }
    return asked;
  };
}

/** The model that answered; looked up only if the request names a provider without a version. */
async function modelOf(client: Client, asked: Asked, turn: Turn): Promise<string | null> {
  const { sessionId, messageId } = turn;
  if (!asked.model?.provider || asked.model.version !== undefined) return null;
  if (sessionId === null || messageId === null || !client.dialect.paths.session) return null;
  try {
    const { getSession } = await import("../../api/sessions.ts");
    const { messages } = await getSession(client, sessionId);
    const message = messages.find((each) => each.message_id === messageId);
    return message?.model_display_name ?? null;
  } catch {
    return null;
  }
}

/**
 * Looks up, during the question, which options the service may silently ignore.
 * Each look-up runs only if the request depends on it, and once for each client and
 * view. `begin` runs with the request, to end before the answer does. `checkCaller`
 * runs when the answer begins, so that it delays no first word.
 */
export function createChecks(client: Client, asked: Asked, view: object) {
  const started = cachedLookUps.get(view) ?? cachedLookUps.get(client) ?? {};
  cachedLookUps.set(view, started).set(client, started);
  // Modules load only when needed: loading delays the first word of the answer.
  const lookUps = {
    tools: lookUp(started, "tools", async () =>
      (await import("../../api/tools.ts")).listTools(client, lookUpTimeoutMs),
    ),
    providers: lookUp(started, "providers", async () =>
      (await import("../../api/models.ts")).listProviders(client, lookUpTimeoutMs),
    ),
    anonymous: lookUp(started, "anonymous", async () => {
      if (client.dialect.paths.me === undefined) return undefined;
      return (await import("../../api/account.ts")).isAnonymous(client, lookUpTimeoutMs);
    }),
  };
  const namesTools = asked.forcedToolId !== undefined || asked.allowedToolIds.length > 0;
  return {
    begin(): void {
      if (namesTools) void lookUps.tools();
      if (asked.model !== null) void lookUps.providers();
    },
    checkCaller(): void {
      void lookUps.anonymous();
    },
    /** The results at the end. Never throws. */
    async known(turn: Turn): Promise<Known> {
      // Only this warning's hint needs the id of the search tool.
      const noSearch = asked.filters !== null && !turn.tools.some(isOwnSearch);
      const [tools, providers, anonymous, model] = await Promise.all([
        namesTools || noSearch ? lookUps.tools() : null,
        asked.model === null ? null : lookUps.providers(),
        lookUps.anonymous(),
        modelOf(client, asked, turn),
      ]);
      return { tools, providers, anonymous, model };
    },
  };
}
