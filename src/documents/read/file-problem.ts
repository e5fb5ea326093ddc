const reasons: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  ENOTDIR: "no such file",
  ENAMETOOLONG: "no such file",
  ELOOP: "a symbolic link in a loop",
  EACCES: "permission denied",
};

/** Why a file that a document refers to cannot be read, by the code of the error. */
export function fileProblem(code: string): string {
  return reasons[code] ?? code;
}
