/** What boxes are headed by. docutils, "Specific Admonitions"; Sphinx, `seealso`. */
export const boxLabels: Readonly<Record<string, string>> = {
  note: "Note",
  warning: "Warning",
  tip: "Tip",
  hint: "Hint",
  important: "Important",
  attention: "Attention",
  caution: "Caution",
  danger: "Danger",
  error: "Error",
  seealso: "See also",
};

/** What Sphinx writes before a version. */
export const versionLabels: Readonly<Record<string, string>> = {
  versionadded: "Added in version",
  "version-added": "Added in version",
  versionchanged: "Changed in version",
  "version-changed": "Changed in version",
  deprecated: "Deprecated since version",
  "version-deprecated": "Deprecated since version",
  versionremoved: "Removed in version",
  "version-removed": "Removed in version",
};

/**
 * Names of directives of docutils, Sphinx and well-known extensions by what they show: a title and
 * content; content for pages of some formats; content alone, as their argument is a name or a number;
 * content that begins on the first line; nothing. reStructuredText and MyST have the same ones.
 */
export const directiveNames = {
  titled:
    "admonition topic sidebar rubric centered tab group-tab tab-item dropdown card grid-item-card collapse details toggle",
  part: "only ifconfig",
  inner:
    "container rst-class cssclass tabs tab-set tab-set-code grid grid-item card-carousel module py:module js:module",
  whole: "compound epigraph highlights pull-quote glossary hlist acks header footer",
  nothing:
    "todo todolist contents index highlight meta title sectionauthor moduleauthor codeauthor sectnum section-numbering target-notes default-role tabularcolumns program currentmodule py:currentmodule default-domain c:namespace c:namespace-push c:namespace-pop cpp:namespace cpp:namespace-push cpp:namespace-pop testsetup testcleanup highlightlang",
};

/** Directives whose page is made of code or data that is not here. */
export const generatedDirective =
  /^(?:auto(?!num)|doxygen|argparse|click$|program-output|command-output|swagger|openapi|exec$|jinja$|inheritance-diagram)/;

/** The names of Sphinx's builders that make no web page. */
const otherBuilder =
  /^(?:latex|latexpdf|pdf|texinfo|man|text|epub|gettext|xml|not +(?:html|builder_html))$/;

/** Whether content for some builders, `html or latex`, is on a web page. */
export const isForWeb = (formats: string): boolean =>
  !formats.split(/ +or +/).every((each) => otherBuilder.test(each.trim()));
