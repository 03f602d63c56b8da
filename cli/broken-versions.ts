/** Versions of other packages with which limits go wrong, for `init` and `doctor`. */

export interface BrokenVersion {
  name: string;
  /** As `satisfies` of check-versions.ts reads it. */
  versions: string;
  /** What happens with them. */
  why: string;
  /** The version to take, with which the tests run. */
  instead: string;
}

export const BROKEN: readonly BrokenVersion[] = [
  {
    name: "@libsql/client",
    versions: ">=0.18.0 <0.18.1",
    why:
      "on a file, it answers SQLITE_BUSY_SNAPSHOT for ever after one SQLITE_BUSY, and the limits " +
      "with it",
    instead: "0.17.4",
  },
];
