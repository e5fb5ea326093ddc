/** Text as HTML. */
export const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** The text of HTML that escapeHtml() and the functions below have made. */
export const plainOf = (html: string): string =>
  html
    .replace(/<[^<>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");

const attribute = (text: string): string => escapeHtml(text).replaceAll('"', "&quot;");

export const codeHtml = (text: string): string => `<code>${escapeHtml(text)}</code>`;

/** Text as HTML, without the escapes of reStructuredText. */
export const unescaped = (text: string): string =>
  escapeHtml(
    text.replace(/\\(\s|[^\s])?/gu, (_, next: string = "") => (/^\s$/.test(next) ? "" : next)),
  );

/** A link around HTML; the HTML alone if there is no address. */
export function linkHtml(html: string, address: string): string {
  if (address === "" || address.endsWith("_")) return html;
  const target = /^[^\s:/@<>]+@[^\s:/@<>]+$/.test(address) ? `mailto:${address}` : address;
  return `<a href="${attribute(target)}">${html}</a>`;
}

export const imageHtml = (source: string, alt: string): string =>
  `<img src="${attribute(source)}" alt="${attribute(alt)}">`;

export function preHtml(html: string, language: string): string {
  const name = language === "" ? "" : ` class="language-${attribute(language)}"`;
  // The first line break in `pre` is no text.
  return `<pre><code${name}>\n${html}</code></pre>`;
}
