/**
 * Phrases with which assistants say that they have no answer, by language. Lower case, without
 * accents, and with straight apostrophes. docs/eval-suites.md explains how they count.
 */
const refusalPhrases = {
  en: [
    "i don't know",
    "i do not know",
    "i'm not sure",
    "i couldn't find",
    "i could not find",
    "i can't find",
    "i cannot find",
    "i was unable to find",
    "i wasn't able to find",
    "i don't have information",
    "i don't have any information",
    "i do not have information",
    "i don't have enough information",
    "i do not have enough information",
    "i can't answer",
    "i cannot answer",
    "i'm unable to answer",
    "i am unable to answer",
    "i can't help with",
    "i cannot help with",
    "there is no information",
    "the documents do not contain",
    "the documents don't contain",
    "the provided documents do not",
    "no relevant documents",
    "nothing in the indexed documents",
    "no sentence of it answers",
  ],
  de: [
    "ich weiss es nicht",
    "ich weiß es nicht",
    "ich weiss nicht",
    "ich weiß nicht",
    "ich konnte keine",
    "ich kann keine informationen",
    "ich habe keine informationen",
    "dazu habe ich keine",
    "dazu liegen mir keine",
    "mir liegen keine informationen",
    "kann ich nicht beantworten",
    "die dokumente enthalten keine",
    "es gibt keine informationen",
  ],
  fr: [
    "je ne sais pas",
    "je n'ai pas trouve",
    "je n'ai trouve aucun",
    "je ne trouve pas",
    "je ne dispose pas d'information",
    "je n'ai pas d'information",
    "je ne peux pas repondre",
    "les documents ne contiennent pas",
    "aucune information",
  ],
  es: [
    "no lo se",
    "no encontre",
    "no he encontrado",
    "no pude encontrar",
    "no tengo informacion",
    "no dispongo de informacion",
    "no puedo responder",
    "los documentos no contienen",
    "no hay informacion",
  ],
  it: [
    "non lo so",
    "non ho trovato",
    "non riesco a trovare",
    "non ho informazioni",
    "non dispongo di informazioni",
    "non posso rispondere",
    "i documenti non contengono",
    "non ci sono informazioni",
  ],
  pt: [
    "nao sei",
    "nao encontrei",
    "nao consegui encontrar",
    "nao tenho informacoes",
    "nao posso responder",
    "os documentos nao contem",
    "nao ha informacoes",
  ],
  nl: [
    "ik weet het niet",
    "ik kon geen",
    "ik kan geen informatie",
    "ik heb geen informatie",
    "dat kan ik niet beantwoorden",
    "de documenten bevatten geen",
    "er is geen informatie",
  ],
} as const;

const all = Object.values(refusalPhrases).flat();

function plain(text: string): string {
  return text
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .replace(/[\u2018\u2019\u02bc]/g, "'")
    .replace(/\s+/g, " ")
    .toLowerCase();
}

const isWordCharacter = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}]/u.test(character);

/** The first refusal phrase of an answer, as whole words; undefined if it has none. */
export function findRefusal(answer: string): string | undefined {
  const text = plain(answer);
  return all.find((phrase) => {
    for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + 1)) {
      if (!isWordCharacter(text[at - 1]) && !isWordCharacter(text[at + phrase.length])) return true;
    }
    return false;
  });
}
