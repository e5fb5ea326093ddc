/**
 * The part of pdf.js (mozilla.github.io/pdf.js/api) that is used: the types of
 * the package cannot be resolved under `nodenext`. Version pinned.
 */
declare module "unpdf/pdfjs" {
  export interface PdfOptions {
    data: Uint8Array;
    isEvalSupported: boolean;
    enableXfa: boolean;
    useWorkerFetch: boolean;
    useWasm: boolean;
    useSystemFonts: boolean;
    disableFontFace: boolean;
    stopAtErrors: boolean;
    /** 0: errors only, and those are thrown. */
    verbosity: number;
  }

  /** Marked content has no `str`. */
  export interface PdfPiece {
    str?: string;
    hasEOL?: boolean;
    height?: number;
    /** Matrix; its last member is the height above the page's lower edge. */
    transform?: readonly number[];
  }

  export interface PdfPage {
    streamTextContent(): {
      getReader(): { read(): Promise<{ done: boolean; value?: { items: PdfPiece[] } }> };
    };
    cleanup(): void;
  }

  /** A place of a form field. */
  export interface PdfField {
    name?: string;
    /** Text, or the chosen options. */
    value?: unknown;
    /** `text`, `combobox`, `listbox`, `checkbox`, … */
    type?: string;
    /** From 0. */
    page?: number;
    password?: boolean;
    hidden?: boolean;
  }

  export interface Pdf {
    numPages: number;
    /** By name of the field; null without a form. */
    getFieldObjects(): Promise<Record<string, PdfField[]> | null>;
    getPage(number: number): Promise<PdfPage>;
    getMetadata(): Promise<{ info: Record<string, unknown> }>;
  }

  export interface PdfTask {
    promise: Promise<Pdf>;
    destroy(): Promise<void>;
  }

  export function getDocument(options: PdfOptions): PdfTask;
}
