import { attributeOf, descendantsOf, valueOf, type XmlNode } from "../office/archive.ts";
import type { Run } from "../office/run-text.ts";
import { isOn, memberOf, type Styles } from "./docx-styles.ts";

const codeStyle =
  /^(?:verbatim char|source text|html (?:code|sample|typewriter)|inline code|code)$/i;

/** Takes a property of a run: its own, or the style that it names. */
export function styleRun(styles: Styles, run: Run, property: XmlNode): void {
  const { name } = property;
  const value = valueOf(property);
  if (name === "vanish") run.isHidden = isOn(value);
  else if (name === "b") run.isBold = isOn(value);
  else if (name === "i") run.isItalic = isOn(value);
  else if (name === "strike" || name === "dstrike") run.isStruck = isOn(value);
  else if (name === "vertAlign") run.vertical = value;
  else if (name === "rFonts") {
    run.font = attributeOf(property, "ascii") ?? attributeOf(property, "hAnsi");
  } else if (name === "rStyle") {
    run.isHidden ||= memberOf(styles, value, "isHidden") === true;
    run.isBold ||= memberOf(styles, value, "isBold") === true;
    run.isItalic ||= memberOf(styles, value, "isItalic") === true;
    run.isCode ||= codeStyle.test(memberOf(styles, value, "name") ?? "");
  }
}

/** The address in the instruction of a field; undefined for a field that is no link. */
export function fieldLink(instruction: string): string | undefined {
  const [, href, anchor] =
    /^\s*HYPERLINK\s+"([^"]+)"(?:\s+\\l\s+"([^"]*)")?/i.exec(instruction) ?? [];
  return href === undefined || anchor === undefined ? href : `${href}#${anchor}`;
}

/** The state of the check box that a field begins with; undefined for other fields. */
export function checkBoxIn(node: XmlNode): boolean | undefined {
  let checkBox: boolean | undefined;
  for (const each of descendantsOf(node)) {
    if (each.name === "checkBox") checkBox = false;
    const isState = each.name === "default" || each.name === "checked";
    if (isState && checkBox !== undefined) checkBox = isOn(valueOf(each));
  }
  return checkBox;
}

/** ECMA-376 part 1, 17.4.55: 0x20 stands for the first row. */
export function marksFirstRow(look: XmlNode | undefined): boolean {
  const first = look && attributeOf(look, "firstRow");
  if (first !== undefined) return /^(?:1|true|on)$/.test(first);
  return (parseInt((look && valueOf(look)) ?? "0", 16) & 0x20) !== 0;
}
