import { variableName } from "./suite-schema.ts";
import { didYouMean } from "./suite-problems.ts";

/** Values of `{{name}}` by name. */
export type Variables = ReadonlyMap<string, string>;

/**
 * Replaces each `{{name}}` of a text by its value, once: a value is not searched again. Calls
 * `report` for an unknown name, and for anything else between the braces.
 */
export function fillIn(
  text: string,
  variables: Variables,
  report: (message: string) => void,
): string {
  return text.replace(/\{\{([^{}]*)\}\}/g, (whole, inside: string) => {
    const name = inside.trim();
    const value = variables.get(name);
    if (value !== undefined) return value;
    if (variableName.test(name)) {
      report(`the variable ${name} is not defined${didYouMean(name, [...variables.keys()])}`);
    } else report(`${whole.slice(0, 60)}: only the name of a variable can stand between {{ and }}`);
    return whole;
  });
}
