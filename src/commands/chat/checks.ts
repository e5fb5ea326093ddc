import type { Client } from "../../api/client.ts";
import type { Turn } from "../../output/chat/answer.ts";
import { isOwnSearch } from "../../output/chat/filter-warnings.ts";
import type { Asked, Known } from "../../output/chat/warnings.ts";

/** So long may a look-up take: the answer is there, and nobody waits long for a warning. */
const withinMs = 2000;

type LookUps = {
  [Name in "tools" | "providers" | "anonymous"]: () => Promise<Known[Name]>;
};

const kept = new WeakMap<Client, LookUps>();

/** Asks at most once; what fails is not known, which is no reason to fail. */
function once<T>(ask: () => Promise<T | undefined>): () => Promise<T | null> {
  let asked: Promise<T | null> | undefined;
  return () => {
    asked ??= ask().then(
      (value) => value ?? null,
      () => null,
    );
    return asked;
  };
}

function lookUpsOf(client: Client): LookUps {
  const known = kept.get(client) ?? {
    // Loaded when needed: the first word of the answer waits for all that is loaded.
    tools: once(async () => (await import("../../api/tools.ts")).listTools(client, withinMs)),
    providers: once(async () =>
      (await import("../../api/models.ts")).listProviders(client, withinMs),
    ),
    anonymous: once(async () => {
      if (client.dialect.paths.me === undefined) return undefined;
      return (await import("../../api/account.ts")).isAnonymous(client, withinMs);
    }),
  };
  kept.set(client, known);
  return known;
}

/** The name of the model is of use where only a provider was asked for: with a version it repeats that one. */
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
 * Finds out, beside the question, what the service may silently do otherwise.
 * Each look-up is made only where something asked for depends on it, and once
 * for each client: `begin` at the time of sending, so that it is over when the
 * answer is; `whose` when the answer begins, so that it delays no first word.
 */
export function createChecks(client: Client, asked: Asked) {
  const lookUps = lookUpsOf(client);
  const namesTools = asked.forcedToolId !== undefined || asked.allowedToolIds.length > 0;
  return {
    begin(): void {
      if (namesTools) void lookUps.tools();
      if (asked.model !== null) void lookUps.providers();
    },
    whose(): void {
      void lookUps.anonymous();
    },
    /** What is known at the end; never throws. */
    async known(turn: Turn): Promise<Known> {
      // Only then the remedy needs the id of the tool that searches.
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
