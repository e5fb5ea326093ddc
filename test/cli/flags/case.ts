/** Words of a command line: a string is split at blanks. */
export type Words = string | readonly string[];

/** A text that is there in one of two runs, and not in the other. */
export interface Difference {
  /** Only the run with the flag has it. */
  gains?: RegExp;
  /** Only the run without the flag has it. */
  loses?: RegExp;
}

/** What both runs have in common. */
export interface Setting {
  /** Behind the command's own words. */
  args?: Words;
  /** Files of the working folder, which is a project root. */
  files?: Readonly<Record<string, string | Uint8Array>>;
  /** The project's configuration, trusted. */
  config?: object;
  env?: Readonly<Record<string, string>>;
  stdin?: string;
  isTTY?: boolean;
  /** Of the sandbox that is asked; `standard` without it. */
  dialect?: "standard" | "onyx";
  /** The working folder is a git repository with one commit of the files. */
  git?: boolean;
  /** Command lines that run before, in the same folder. */
  first?: readonly Words[];
  /** Files that are written after that; one without text is removed. */
  edits?: Readonly<Record<string, string | undefined>>;
  /** A command line that runs afterwards; its stdout is added. */
  after?: Words;
  /** Interrupts the command when it has printed this. */
  until?: RegExp;
}

/** Two runs, without and with the flag, that differ as the flag promises. */
export interface Effect extends Setting {
  flag: Words;
  stdout?: Difference;
  stderr?: Difference;
  /** The requests that arrived, with their bodies: a line each. */
  requests?: Difference;
  /** How often the command waited for a time, in milliseconds each. */
  waits?: Difference;
  /** The files in the working folder and the user's configuration afterwards: `path: text`. */
  left?: Difference;
  /** Exit codes without and with the flag; both 0 where this is left out. */
  codes?: readonly [without: number, with_: number];
}

/** The flag is refused: exit 2, nothing sent, a message that names it and fits. */
export interface Refusal extends Setting {
  flag: Words;
  refused: RegExp;
}

/**
 * The flag is taken and changes nothing here: output and exit code stay. Only for a flag whose
 * promise is kept anyhow, and that a script reasonably gives to every command; the reason says why.
 */
export interface Harmless extends Setting {
  flag: Words;
  harmless: string;
}

/** What two runs in this process cannot show: the test that shows it. */
export interface TestedElsewhere {
  /** Path of the test, which names the flag. */
  tested: string;
}

export type Case = Effect | Refusal | Harmless | TestedElsewhere;

/** One case, or several, for each flag of a command. */
export type FlagCases = Readonly<Record<string, Case | readonly Case[]>>;

/** By the path of the command: `connectors list`. */
export type Coverage = Readonly<Record<string, FlagCases>>;
