/** The part of sax that is used; the package contains no types. Version pinned. */
declare module "sax" {
  export interface Events {
    onerror: (error: Error) => void;
    ontext: (text: string) => void;
    oncdata: (text: string) => void;
    ondoctype: (doctype: string) => void;
    onsgmldeclaration: (declaration: string) => void;
    onopentagstart: (tag: { name: string }) => void;
    onattribute: (attribute: { name: string; value: string }) => void;
    onopentag: (tag: { name: string; attributes: Record<string, string> }) => void;
    onclosetag: (name: string) => void;
  }
  export interface Parser {
    write(text: string): Parser;
    close(): Parser;
  }
  const sax: {
    parser(strict: boolean, options: { strictEntities: boolean }): Parser;
  };
  export default sax;
}
