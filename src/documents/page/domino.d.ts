/** The part of domino that is used; the types of the package need those of browsers. Version pinned. */
declare module "@mixmark-io/domino" {
  /** Elements, texts and comments. */
  export interface PageNode {
    /** 1: element, 3: text, 4: CDATA, 8: comment. */
    readonly nodeType: number;
    /** Of elements, in lower case. */
    readonly localName: string;
    /** Of texts and comments. */
    readonly data: string;
    readonly parentNode: PageNode | null;
    readonly firstChild: PageNode | null;
    readonly lastChild: PageNode | null;
    readonly nextSibling: PageNode | null;
    /** Of elements. */
    hasAttributes(): boolean;
    getAttribute(name: string): string | null;
    setAttribute(name: string, value: string): void;
    removeAttribute(name: string): void;
    remove(): void;
    readonly innerHTML: string;
    outerHTML: string;
  }
  export function createIncrementalHTMLParser(): {
    end(html: string): void;
    /** Parses until `pause` is true after a token. Returns whether more is to do. */
    process(pause: () => boolean): boolean;
    document(): PageNode;
  };
}
