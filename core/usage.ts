/** The usage of a limit that was counted in some span; see `usage` of a limit. */
export interface Usage {
  /** Calls that were granted. */
  granted: number;
  /** Calls that were denied. */
  denied: number;
  /** Tokens that were taken, also by `charge`. */
  taken: number;
  /** Tokens that were given back. */
  givenBack: number;
}
