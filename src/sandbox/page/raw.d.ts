/** The text of a file, put into the program when it is built (rolldown.config.js). */
declare module "*?raw" {
  const text: string;
  export default text;
}
