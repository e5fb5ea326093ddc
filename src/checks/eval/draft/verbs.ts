// Verbs that begin the headings of instructions, as lists: a dictionary would be larger than the program.

const words = (text: string): string[] => text.trim().split(/\s+/);

/** Verbs that begin a heading as nothing else: "Configure ingress". */
const certain = words(`
  add adapt adjust allow append apply approve ask cancel renew replace assign attach authenticate authorize authorise avoid bind bring calculate capture
  choose collect combine compare compile compute configure connect consume convert create customize customise declare
  decode decrypt define delete deploy detect determine disable distribute enable encode encrypt ensure evaluate exclude
  execute expose extend find generate get give grant hide identify implement improve include initialize initialise inject
  insert inspect install integrate invalidate invoke keep maintain manage manipulate migrate minimize modify
  normalize obtain omit optimize optimise organize pass perform persist prepare prevent propagate protect provide
  provision publish receive reconcile recover reduce register remove rename resolve respond restore
  restrict retrieve reuse revoke rotate send serialize serve simulate specify suppress terminate
  translate troubleshoot uninstall unlock update use validate verify visualize write
`);

/** Verbs that are nouns as well: "Build a package" and "Build options". */
const ambiguous = words(`
  access redirect merge skip select wait alert archive audit back backup build bundle cache call change check clean clear clone close commit control copy
  customise cut debug design display document download draft drop dump edit embed escape export extract fetch filter fix
  force format fork group guard handle hook host import index inherit invite join label launch limit link lint list load lock log loop
  make map mark mask match mock monitor mount move name open order override package parse paste pause pin place plan play
  plug point poll post preview print process profile pull push query queue record release render report request reset
  restart retry return review roll route run sample save scale scan schedule search secure set share ship show sign sort
  split start stop store stream structure style submit subscribe support switch sync tag target test time trace track
  transfer transform trigger tune turn type undo upgrade upload view watch work wrap
`);

const doubled = new Set(
  words(`
  back run set get put plan log map debug plug stop submit begin ship tag wrap trim swap cut drop pin scan split format
  reset strip embed commit transfer refer control
`),
);

function gerundOf(verb: string): string {
  if (verb !== "back" && doubled.has(verb)) return `${verb}${verb.at(-1)}ing`;
  return /[^eoy]e$/.test(verb) ? `${verb.slice(0, -1)}ing` : `${verb}ing`;
}

const gerunds = new Map([...certain, ...ambiguous].map((verb) => [gerundOf(verb), verb]));
const certainVerbs: ReadonlySet<string> = new Set(certain);
const ambiguousVerbs: ReadonlySet<string> = new Set(ambiguous);

// What begins an object or goes with a verb: after it, a word in front is a verb.
const afterVerb =
  /^(?:a|an|the|this|that|these|those|your|my|its|our|their|all|any|each|every|multiple|several|some|one|two|new|another|other|custom|only|own|existing|up|out|off|into|onto|from|locally|remotely|manually|automatically)$/;

// "Export to CSV", and "Access to the API".
const withTo = /^(?:export|upgrade|switch|move|push|submit|subscribe|report|return|convert)$/;
const withIn = /^(?:log|sign)$/;
const anyPreposition =
  /^(?:in|on|to|with|without|for|against|as|over|through|between|outside|inside|under|by)$/;

// "Loading plugins" is a task; "Caching strategies" are strategies.
const handled =
  /^(?:plugins|modules|extensions|themes|templates|components|files|columns|variables|events|services|commands)$/;

function isObject(word: string, verb: string, isGerund: boolean): boolean {
  if (afterVerb.test(word) || (isGerund && handled.test(word))) return true;
  if (anyPreposition.test(word)) {
    if (isGerund || certainVerbs.has(verb)) return true;
    return word === "to" ? withTo.test(verb) : word === "in" && withIn.test(verb);
  }
  return certainVerbs.has(verb) && word !== "" && !/^(?:and|or|of|is|are)$/.test(word);
}

/** `restore` for `Restoring`; undefined for a word that is no gerund of these verbs. */
const baseOfGerund = (word: string): string | undefined => gerunds.get(word.toLowerCase());

/**
 * The task that a heading names, with its verb in base form: `restore a backup` for `Restoring a backup`
 * and for `Restore a backup`. Undefined for other headings, and for a word that may be a noun.
 */
export function taskOf(heading: string): string | undefined {
  const [first = "", ...rest] = heading.split(" ");
  const lower = first.toLowerCase();
  const verb = baseOfGerund(lower) ?? lower;
  if (!certainVerbs.has(verb) && !ambiguousVerbs.has(verb)) return undefined;
  let at = 0;
  // "Creating and deleting users": the other verbs have the form of the first one.
  const verbs = [verb];
  while (/^(?:and|or|&)$/.test(rest[at] ?? "")) {
    const next = (rest[at + 1] ?? "").toLowerCase();
    const base =
      baseOfGerund(next) ?? (certainVerbs.has(next) || ambiguousVerbs.has(next) ? next : undefined);
    if (base === undefined) return undefined;
    verbs.push(rest[at] === "&" ? "and" : (rest[at] ?? ""), base);
    at += 2;
  }
  const object = rest.slice(at);
  // "Getting Started" has its capital by habit.
  if (verb === "get" && object[0] === "Started") object[0] = "started";
  if (!isObject((object[0] ?? "").toLowerCase(), verb, verb !== lower)) return undefined;
  return [...verbs, ...object].join(" ");
}
