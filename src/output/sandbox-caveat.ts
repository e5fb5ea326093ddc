/** Said with results of the sandbox, which nobody should take for those of an assistant. */
export const sandboxCaveat =
  "the sandbox was asked: this is its word search, not your assistant; results of your service will differ";
