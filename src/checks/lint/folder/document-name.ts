/** A document for a message: `docs/a.md`, `people.csv row 3`. */
export const documentName = ({ path, part }: { path: string; part: number }): string =>
  part === 0 ? path : `${path} row ${part}`;
