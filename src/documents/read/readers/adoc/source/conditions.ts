import { substitute, type Attributes } from "./attributes.ts";

const operators: Readonly<
  Record<string, (left: string | number, right: string | number) => boolean>
> = {
  "==": (left, right) => left === right,
  "!=": (left, right) => left !== right,
  "<": (left, right) => left < right,
  "<=": (left, right) => left <= right,
  ">": (left, right) => left > right,
  ">=": (left, right) => left >= right,
};

function operand(attributes: Attributes, written: string): string | number {
  const text = substitute(attributes, written.trim());
  const quoted = /^(["'])(.*)\1$/.exec(text)?.[2];
  if (quoted !== undefined) return quoted;
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

/** Whether a condition holds. Of `ifeval`, `condition` is the comparison; a broken one is false. */
export function isTrue(attributes: Attributes, name: string, condition: string): boolean {
  if (name === "ifeval") {
    const [, left = "", operator = "", right = ""] =
      /^([^<>=!]*)([<>=!]=|[<>])([^<>=!]*)$/.exec(condition) ?? [];
    const a = operand(attributes, left);
    const b = operand(attributes, right);
    return typeof a === typeof b && (operators[operator]?.(a, b) ?? false);
  }
  const isSet = (each: string): boolean => attributes.values.has(each.trim().toLowerCase());
  const isDefined = condition.includes("+")
    ? condition.split("+").every(isSet)
    : condition.split(",").some(isSet);
  return isDefined === (name === "ifdef");
}
