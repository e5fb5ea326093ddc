import { InvalidArgumentError } from "commander";

/** Parser for a whole number within bounds; its error names the bounds. */
export function integer(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = /^[+-]?\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min && number <= max)) {
      throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
    }
    return number;
  };
}

/** Parser for a decimal number within bounds. */
export function decimal(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = /^[+-]?(\d+\.?\d*|\.\d+)$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min && number <= max)) {
      throw new InvalidArgumentError(`Expected a number from ${min} to ${max}.`);
    }
    return number;
  };
}

/** Parser that accepts only the given words. */
export function choice<const Value extends string>(
  ...values: readonly Value[]
): (value: string) => Value {
  return (value) => {
    const found = values.find((each) => each === value);
    if (found === undefined)
      throw new InvalidArgumentError(`Expected one of ${values.join(", ")}.`);
    return found;
  };
}

/** For a flag that may be given several times: each occurrence adds to a list. */
export function collect(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

/** As collect(), each occurrence parsed by `parse`. */
export function collectParsed<Value>(
  parse: (value: string) => Value,
): (value: string, previous: Value[] | undefined) => Value[] {
  return (value, previous) => [...(previous ?? []), parse(value)];
}

/** The examples at the end of a help text. Each command works as written. */
export function examples(lines: readonly (readonly [command: string, purpose: string])[]): string {
  const rows = lines.map(([command, purpose]) => `  # ${purpose}\n  $ ${command}`);
  return `\nExamples:\n${rows.join("\n")}`;
}
