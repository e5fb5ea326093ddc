import type { Client } from "../../api/client.ts";
import type { Turn } from "../../output/chat/turn/answer.ts";
import { isOwnSearch } from "../../output/chat/filter-warnings.ts";
import type { Asked, Known } from "../../output/chat/warnings.ts";

/** So long may a look-up take: the answer is there, and nobody waits long for a warning. */
const withinMs = 2000;

type Facts = Pick<Known, "tools" | "providers" | "anonymous">;

type Asking = { [Name in keyof Facts]?: Promise<Facts[Name]> };

/**
 * What was asked already, by client, as a batch has one, and by view: the
 * questions of a conversation have a client each and one view.
 */
const kept = new WeakMap<object, Asking>();

/** Asks once; what fails is not known, which is no failure, and may be asked again. */
function lookUp<Name extends keyof Facts>(
  asking: Asking,
  name: Name,
  ask: () => Promise<Facts[Name] | undefined>,
): () => Promise<Facts[Name]> {
  const find = async (): Promise<Facts[Name]> => {
    const found = (await ask().catch(() => null)) ?? null;
    if (found === null) delete asking[name];
    return found as Facts[Name];
  };
  // For one question it is not asked again.
  let asked: Promise<Facts[Name]> | undefined;
  return () => {
    if (asked === undefined) {
      asked = asking[name] ?? find();
      asking[name] = asked as Asking[Name];
    }
    return asked;
  };
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
 * for a client and for a view: `begin` at the time of sending, so that it is over
 * when the answer is; `whose` when the answer begins, so that it delays no first word.
 */
export function createChecks(client: Client, asked: Asked, view: object) {
  const asking = kept.get(view) ?? kept.get(client) ?? {};
  kept.set(view, asking).set(client, asking);
  // Loaded when needed: the first word of the answer waits for all that is loaded.
  const lookUps = {
    tools: lookUp(asking, "tools", async () =>
      (await import("../../api/tools.ts")).listTools(client, withinMs),
    ),
    providers: lookUp(asking, "providers", async () =>
      (await import("../../api/models.ts")).listProviders(client, withinMs),
    ),
    anonymous: lookUp(asking, "anonymous", async () => {
      if (client.dialect.paths.me === undefined) return undefined;
      return (await import("../../api/account.ts")).isAnonymous(client, withinMs);
    }),
  };
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
