import { isBlank, textOf, type Line } from "../blocks/rst-lines.ts";
import type { Block } from "../rst-reading.ts";

/** A directive as written. */
export interface Directive {
  /** In lower case. */
  name: string;
  /** The lines before the options and the first blank line. */
  args: Line[];
  options: ReadonlyMap<string, string>;
  body: Line[];
  /** Everything but the options: the content of a directive without arguments. */
  content: Line[];
  line: number | undefined;
}

export type Handle = (block: Block, directive: Directive) => void;

export const directiveName =
  /^([\p{L}\p{N}](?:[\p{L}\p{N}]|[-._+:](?=[\p{L}\p{N}]))*) ?::(?: +|$)/u;
const optionName = /^:([^:\s`][^:`]*):(?: +|$)/;

/** The arguments, options and content of a directive. */
export function splitDirective(name: string, lines: readonly Line[]): Directive {
  const blank = lines.findIndex((line, index) => index > 0 && isBlank(line));
  const head = lines.slice(0, blank === -1 ? lines.length : blank);
  const body = lines.slice(head.length + 1);
  const firstOption = head.findIndex(({ text }) => optionName.test(text));
  const args = head.slice(0, firstOption === -1 ? head.length : firstOption);
  const options = new Map<string, string>();
  let last = "";
  for (const { text } of head.slice(args.length)) {
    const [marker, option] = optionName.exec(text) ?? [];
    if (marker !== undefined && option !== undefined) {
      last = option;
      options.set(option, text.slice(marker.length).trim());
    } else options.set(last, `${options.get(last) ?? ""}\n${text.trim()}`.trim());
  }
  const isWhole = firstOption === -1 && blank !== -1;
  const content = isWhole ? lines : args.some((line) => !isBlank(line)) ? [...args, ...body] : body;
  return {
    name: name.toLowerCase(),
    args: args.filter((line) => !isBlank(line)),
    options,
    body,
    content: [...content],
    line: lines[0]?.number,
  };
}

/** The arguments as one text. */
export const argumentOf = ({ args }: Directive): string => textOf(args).trim();
