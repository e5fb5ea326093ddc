import { asReader, inSentence, withArticle, type Usage } from "./phrases.ts";
import { taskOf } from "./verbs.ts";

/** A part of a page as questions need it. */
export interface Part {
  /** Plain text of its heading; of the page itself its title. */
  heading: string;
  /** Markdown below the heading, up to the next heading of any level. */
  own: string;
  /** Markdown up to the next heading of its level. */
  whole: string;
}

/** What the title of a page names: a thing, or a task with its verb in base form. */
export interface Topic {
  kind: "thing" | "task";
  text: string;
}

const generic = new Set(
  (
    "about|overview|introduction|intro|summary|contents|table of contents|see also|seealso|notes|note|references|reference|faq|faqs|" +
    "frequently asked questions|examples|example|conclusion|background|general|more|changelog|change log|release notes|history|" +
    "versions|getting started|get started|quick start|quickstart|index|home|readme|welcome|license|licence|credits|contributing|" +
    "contributors|authors|acknowledgements|acknowledgments|support|help|next steps|what's next|next|further reading|resources|" +
    "links|community resources|official resources|related|related topics|related links|related resources|additional resources|learn more|more information|appendix|" +
    "glossary|details|basics|advanced|misc|miscellaneous|other|others|tips|summary of changes|features|community|documentation|docs|" +
    "guide|user guide|guides|tutorial|tutorials|preface|exercises|api|api reference|key takeaways|description|motivation|remarks|" +
    "what you'll learn|what you will learn|before you begin|demo|code|output|result|results|steps|step|cookbook|recipes|manual"
  ).split("|"),
);

/** Whether a heading names no subject of its own. */
export const isGeneric = (heading: string): boolean =>
  generic.has(
    heading
      .toLowerCase()
      .replace(/^the /, "")
      .replace(/[.:!]+$/, ""),
  );

const asked =
  /^(?:who|what|when|where|which|why|how|whose|is|are|can|could|does|do|did|should|will|would|must|may|has)\b/i;
const toReaders =
  /^(?:do|are|have|did|will|would|can) you\b|^what (?:just )?happened\b|^(?:what|where) (?:next|now)|^what (?:just )?happened\b|^what'?s (?:next|new)|^(?:can|should) we\b/i;
const vague = /\b(?:it|they|them|this|that|these|those)\b/i;
const small =
  /^(?:use|get|start|started|a|an|the|is|are|do|does|did|i|just|we|you|my|to|of|in|on|for|it|this|that|there|can|should|will|and|or|not|be|so|one|other|others|another|both|either|neither)$/i;

/** What only the page around it makes a thing: `fix the problem`, `add support`. */
const anything =
  /^(?:the|an?|any|all|some|support|errors?|problems?|issues?|bugs?|changes?|things?|something|everything|items?|values?|results?)$/i;

/** Whether a question says by itself what it is about. */
function standsAlone(question: string): boolean {
  const rest = question.replace(asked, "").split(/[^\p{L}\p{N}'’-]+/u);
  const content = rest.filter((word) => word !== "" && !small.test(word) && !anything.test(word));
  return (
    content.length >= (vague.test(question) ? 3 : 2) &&
    !/\b(?:this|these|that|those) (?:guide|page|section|book|tutorial|document)/i.test(question)
  );
}

/** A heading that is a question already. */
function askedQuestion(heading: string): string | undefined {
  if (!/[?？]$/.test(heading) || !asked.test(heading) || toReaders.test(heading)) return undefined;
  return standsAlone(heading) ? heading : undefined;
}

const spoken: readonly (readonly [RegExp, string])[] = [
  [/^how (?:you can|can you|do you|do i|can i|to) /i, "How do I "],
  [/^when (?:you should|should you|to) /i, "When should I "],
  [/^where (?:you can|can you|to) /i, "Where do I "],
  [/^why (?:you should |should you )?(?=use\b|choose\b)/i, "Why should I "],
  [/^(?=(?:what|who|which|why) (?:is|are|does|do)\b)/i, ""],
];

/** A heading that is a question but for its form: `How to restore a backup`, `What is a pair`. */
function spokenQuestion(heading: string, usage: Usage): string | undefined {
  for (const [start, words] of spoken) {
    if (!start.test(heading)) continue;
    const rest = heading.replace(start, "");
    const task = inSentence(rest, usage).replace(/^\p{Lu}(?=\p{Ll}+ )/u, (first) =>
      first.toLowerCase(),
    );
    const question = asReader(`${words}${words === "" ? rest : task}?`);
    return standsAlone(question) ? question : undefined;
  }
  const [, article = "", thing] =
    /^how (?:does )?(the )?([\w' -]{3,60}?) works?$/i.exec(heading) ?? [];
  if (thing === undefined || vague.test(thing)) return undefined;
  return `How ${isPlural(thing) ? "do" : "does"} ${article.toLowerCase()}${thing} work?`;
}

const prepositions = /^(?:for|to|in|on|with|from|of|and|or|by|at|as|into|via|using)$/i;
// "Use it instead": of what stands above.
const comparing = /\b(?:instead|too|also|again|anyway)$/i;
const particles =
  /^(?:up|out|in|off|started|involved|help|today|now|here|locally|manually|automatically)$/i;
const longestWords = 10;

/** `Install options`, `Update strategy`: a verb in front of a noun that says which one. */
const compound =
  /^(?:install|update|delete|write|use|deploy|add|insert|replace|publish|find) (?:options?|sizes?|times?|scripts?|guides?|instructions|notes|process|paths?|locations?|commands?|flow|cases?|methods?|strateg(?:y|ies)|modes?|types?|permissions?|operations?|requests?|events?|hooks?|rules?)$/i;

// What each page has one of: only the page tells which.
const known =
  /^the (?:app|application|code|data|documents?|files?|library|module|package|page|plugin|project|server|service)$/i;
// `Use with a library`: the thing stands in the title, if anywhere.
const withoutThing =
  /^(?:use|create|define|enable|disable|configure|extend|replace|remove|delete|provide) (?:for|in|on|with|from|by|at|as|via)\s/i;
const writingGuide = /^writ(?:e|ing) \w+ guides?$/i;
const future = /\b(?:will|should|must|may)\b/i;
const clause = /\b(?:if|whether|that|what|when|which|how|who|where|why)\b/i;

/** Whether a task says by itself what it is about, and is one: no sentence, no guide. */
function isTask(task: string, heading: string): boolean {
  if (
    comparing.test(heading) ||
    compound.test(heading) ||
    writingGuide.test(heading) ||
    withoutThing.test(task)
  )
    return false;
  if (known.test(task.slice(task.indexOf(" ") + 1))) return false;
  return !future.test(heading) || clause.test(heading);
}

/** The task of a heading as it stands in a question; undefined if it names none. */
function taskIn(heading: string, usage: Usage): string | undefined {
  const task = /[!:]/.test(heading) ? undefined : taskOf(heading);
  if (task === undefined || !isTask(task, heading)) return undefined;
  const [verb = "", ...object] = task.split(" ");
  const last = object.at(-1) ?? "";
  if (object.length > longestWords || prepositions.test(last)) return undefined;
  if (object.every((word) => particles.test(word) || anything.test(word))) return undefined;
  const isVerb = (word: string): boolean =>
    /^(?:and|or)$/.test(word) || taskOf(`${word} the`) !== undefined;
  let verbs = 0;
  while (/^(?:and|or)$/.test(object[verbs] ?? "") && isVerb(object[verbs + 1] ?? "")) verbs += 2;
  const things = inSentence(object.slice(verbs).join(" "), usage);
  return asReader([verb, ...object.slice(0, verbs), withArticle(things, usage)].join(" "));
}

const codeName = /^(?:--?[a-z][\w-]*|[A-Za-z_$][\w$]*(?:[._:/-]+[\w$]+)*(?:\(.*\))?)$/;
const domain = /\.(?:com|org|net|io|sh|dev)$/;
const isCode = (name: string): boolean =>
  codeName.test(name) &&
  /[_()]|^-|^[a-z]+[A-Z][a-z]|^[a-z]\w*[.][a-z]/.test(name) &&
  !domain.test(name);

const determiner = /^(?:an?|the)\s+/i;
const stem = (word: string): string =>
  word
    .toLowerCase()
    .replace(/(?:ies|y)$/, "i")
    .replace(/s$/, "");
const stems = (text: string): string =>
  text
    .replace(determiner, "")
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .map(stem)
    .join(" ");

/**
 * `What is a pair?`, if the first sentence below a heading or title defines what it names. The
 * article is that of the sentence.
 */
function definitionOf({ heading, own }: Part): string | undefined {
  const first = own
    .replace(/<[^<>]{0,500}>/g, " ")
    .replace(/!?\[([^[\]]*)\](?:\([^()]*\)|\[[^[\]]*\])/g, "$1")
    .replace(/[`*_]{1,3}/g, "")
    .trimStart();
  const defined =
    /^((?:(?:An?|The) )?[\p{L}\p{N}][\p{L}\p{N}.+ '’-]{1,60}?)(?: \([^()]{1,40}\))? (is|are) (?:an?|the|one of|any|small|used|basically|simply|just|special|functions|objects|classes|files|methods|values)\b/u.exec(
      first,
    );
  const [, subject, verb] = defined ?? [];
  if (subject === undefined || stems(subject) !== stems(heading)) return undefined;
  const article = /^(?:An?|The) /.exec(subject)?.[0].toLowerCase() ?? "";
  const thing = subject.replace(determiner, "");
  // `The vendor`: a part of what the page is about.
  if (article === "the " && /^\p{L}+$/u.test(thing)) return undefined;
  const isName = article === "" && verb === "is";
  const shown = isName || /\p{Lu}/u.test(thing.slice(1)) ? thing : thing.toLowerCase();
  return `What ${verb} ${article}${shown}?`;
}

const listed = /^[ \t]*(?:[-*+]|\d+[.)])[ \t]/gm;
const tabled = /^[ \t]*\|.*\|[ \t]*$/gm;
const hasList = ({ whole }: Part): boolean =>
  (whole.match(listed) ?? []).length >= 3 || (whole.match(tabled) ?? []).length >= 4;
const hasParts = ({ whole }: Part): boolean => (whole.match(/^#{2,6} /gm) ?? []).length >= 3;

const kinds =
  /(?:^|\s)(?:options|settings|parameters|arguments|properties|attributes|fields|flags|variables|keys|types|methods|commands|events|hooks|modes|formats|platforms|languages|plugins|modules|categories|levels|roles|permissions|limits|limitations|errors|values|strategies|backends|providers|operators|functions|classes|components|headers|metrics|statuses|signals|exceptions|rules|services|targets|themes|templates|filters|directives|scopes|columns|integrations|tools|shortcuts|requirements|policies|operations|algorithms|files|extensions|endpoints|triggers|actions|loaders|resources)$/i;

function aboutCode({ heading, own }: Part, topic: Topic | undefined): string | undefined {
  if (wordCount(own) < 12) return undefined;
  if (!heading.startsWith("-")) return `What does ${heading} do?`;
  return topic?.kind === "thing" ? `What does ${heading} of ${topic.text} do?` : undefined;
}

/** The ordinary sections of a page, by what people ask about its thing. */
const ordinary: readonly (readonly [RegExp, (thing: string) => string])[] = [
  [
    /^(?:installation|installing|install|installation instructions|how to install)$/i,
    (thing) => `How do I install ${thing}?`,
  ],
  [/^(?:usage|using|how to use|basic usage|use)$/i, (thing) => `How do I use ${thing}?`],
  [
    /^(?:configuration|configuring|configure|setup|set up)$/i,
    (thing) => `How do I configure ${thing}?`,
  ],
  [
    /^(?:requirements|prerequisites|system requirements|dependencies)$/i,
    (thing) => `What are the requirements for ${thing}?`,
  ],
  [
    /^(?:limitations|known limitations|known issues|caveats|restrictions|gotchas|drawbacks)$/i,
    (thing) => `What are the limitations of ${thing}?`,
  ],
  [/^(?:upgrading|upgrade|updating)$/i, (thing) => `How do I upgrade ${thing}?`],
  [
    /^(?:uninstallation|uninstalling|uninstall|removal)$/i,
    (thing) => `How do I uninstall ${thing}?`,
  ],
  [/^syntax$/i, (thing) => `What is the syntax of ${thing}?`],
  [
    /^(?:troubleshooting|common problems|common issues)$/i,
    (thing) => `How do I troubleshoot ${thing}?`,
  ],
  [/^(?:when to use|use cases)$/i, (thing) => `When should I use ${thing}?`],
  [/^(?:how it works|how does it work\??|how this works)$/i, (thing) => `How does ${thing} work?`],
  [/^(?:return value|returns|return values)$/i, (thing) => `What does ${thing} return?`],
  [/^(?:why|why use it\??|rationale)$/i, (thing) => `Why does ${thing} exist?`],
];

function ofTopic({ heading }: Part, topic: Topic | undefined): string | undefined {
  const found = ordinary.find(([pattern]) => pattern.test(heading));
  if (!found || topic === undefined) return undefined;
  if (topic.kind === "thing") return found[1](topic.text);
  return /^(?:requirements|prerequisites)$/i.test(heading)
    ? `What do I need to ${topic.text}?`
    : undefined;
}

const isSame = (heading: string, { text }: Topic): boolean =>
  stems(heading).includes(stems(text)) || stems(text).includes(stems(heading));

// Words for what a program does, so that "How does … work?" is what people ask about them.
const process =
  /(?:^|[\s-])(?:handling|caching|logging|rendering|routing|parsing|validation|authentication|authorization|authorisation|encryption|replication|synchronization|serialization|deserialization|inheritance|propagation|resolution|detection|scheduling|loading|mapping|indexing|pagination|throttling|limiting|balancing|scaling|autoscaling|sharding|partitioning|versioning|testing|monitoring|tracing|profiling|discovery|injection|interpolation|substitution|expansion|compilation|conversion|coercion|inference|checking|formatting|highlighting|minification|optimization|hydration|filtering|sorting|matching|ranking|merging|splitting|chunking|streaming|batching|buffering|polling|locking|isolation|impersonation|delegation|federation|recovery|failover|rotation|revocation|expiration|invalidation|garbage collection|management|provisioning|orchestration|evaluation|reconciliation|verification|signing|composition|memoization|lifecycle|life cycle|workflow)$/i;

const wordCount = (text: string): number => text.split(/\s+/).filter(Boolean).length;

/** Whether a thing is several: `options`, not `status` and `analysis`. */
const isPlural = (thing: string): boolean =>
  /[^aeisu]s$|[^s]es$/.test(thing.split(prepositionInside)[0] ?? "");
const prepositionInside = /\s(?:of|for|in|into|to|with|on|by|from)\s/;

const unclear =
  /^(?:the|my|your|an?|upcoming|recent|new|other|more|additional|related|useful|modified|removed|deprecated|further|some|all|common|example)\b|\b(?:and|using|with|for|to)\b|&/i;

/** `Which options does the build command have?` of a list, `How does caching work?` of what a program does. */
function byKind(part: Part, topic: Topic | undefined, usage: Usage): string | undefined {
  const { heading } = part;
  const count = wordCount(heading);
  if (count > 5 || /[,:;()/"]|\p{Lu}{2,} \p{Lu}{3,}/u.test(heading)) return undefined;
  if (unclear.test(heading) || asked.test(heading)) return undefined;
  const thing = inSentence(heading, usage).replace(/\S+$/, (last) => last.toLowerCase());
  const isOwn = topic !== undefined && isSame(heading, topic);
  const owner = topic?.kind === "thing" && !isOwn ? topic.text : undefined;
  const [head = ""] = heading.split(prepositionInside);
  const isTask = /^(?:troubleshooting|fixing|handling|debugging)\s/i.test(heading);
  if (kinds.test(heading) && (isTask || !kinds.test(head))) return undefined;
  if (kinds.test(heading)) {
    if (!hasList(part) && !hasParts(part)) return undefined;
    if (owner !== undefined)
      return `Which ${thing} ${isPlural(owner) ? "do" : "does"} ${owner} have?`;
    return count > 1 ? `Which ${thing} are there?` : undefined;
  }
  const isProcess = process.test(heading) && (count === 1 || !/^\S+ing\s/.test(heading));
  if (!isProcess || wordCount(part.whole) < 40) return undefined;
  if (owner !== undefined) return `How does ${thing} work in ${owner}?`;
  return count > 1 || isOwn ? `How does ${thing} work?` : undefined;
}

// Titles of collections: their sections are about other things.
const unnamed =
  /[|<>*]|^(?:additional|other|more|new|related|further)\b|\b(?:practices|documentation|docs|tips|tricks|examples?|ways|concepts|recipes|patterns|standards|notes|policy|policies|terms|resources|part \d+)$/i;

const unclearKinds = /^(?:models|objects|entities)$/i;

/** Whether a title is a sentence: `Entities implement translations`, `Mark it if it is gone`. */
function isSentence(name: string): boolean {
  const [first = "", second = "", ...rest] = name.split(" ");
  if (/\s(?:if|when|that|is|are|was|has|have|must|should)\s/.test(name)) return true;
  return rest.length > 0 && isPlural(first) && taskOf(`${second} the`) !== undefined;
}

/** What a title names, as questions about its sections need it; undefined if it names nothing. */
export function topicOf(title: string, usage: Usage): Topic | undefined {
  const [first = ""] = title.split(/ [|–—] | - /);
  const name = first
    .replace(/ (?:overview|reference|guide|tutorial|introduction|basics|faq)$/i, "")
    .trim();
  if (isGeneric(name) || /[?？!]$/.test(name) || wordCount(name) > 6) return undefined;
  const isCollection = !name.includes(" ") && (kinds.test(name) || unclearKinds.test(name));
  if (isSentence(name) || isCollection) return undefined;
  if (ordinary.some(([pattern]) => pattern.test(name)) || unnamed.test(name)) return undefined;
  const task = taskIn(name.replace(/^how to /i, ""), usage);
  if (task !== undefined) return { kind: "task", text: task };
  if (/^(?:how|what|why|when|where|who|which|\S+ing)\b|\d|\b(?:and|or|to|your)\b|[&:]/i.test(name))
    return undefined;
  return { kind: "thing", text: withArticle(inSentence(name, usage), usage) };
}

/** A question, and how surely a person would ask it: 0 is the best. */
export interface Ranked {
  text: string;
  rank: number;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The question in English that a part of a page answers; undefined if its heading gives none. */
export function englishQuestion(
  part: Part,
  topic: Topic | undefined,
  usage: Usage,
): Ranked | undefined {
  const { heading } = part;
  const ranked = (text: string | undefined, rank: number): Ranked | undefined =>
    text === undefined
      ? undefined
      : { text: capital(text), rank: rank + (standsAlone(text) ? 0 : 0.5) };
  if (/[?？]$/.test(heading)) return ranked(askedQuestion(heading), 0);
  const inTopic = ofTopic(part, topic);
  if (inTopic !== undefined) return ranked(inTopic, 3);
  if (isGeneric(heading)) return undefined;
  if (isCode(heading)) return ranked(aboutCode(part, topic), 5);
  const spokenAs = spokenQuestion(heading, usage);
  if (spokenAs !== undefined) return ranked(spokenAs, 1);
  const task = taskIn(heading, usage);
  if (task !== undefined) return ranked(`How do I ${task}?`, 1);
  const defined = definitionOf(part);
  if (defined !== undefined) return ranked(defined, 2);
  return ranked(byKind(part, topic, usage), 4);
}
