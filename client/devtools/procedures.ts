/** The procedures that charge a limit, as the page's own calls have shown them. The server has no list. */

/**
 * How a call has shown that its procedure charges a limit, the surest first.
 *
 * - `denial`: the server denied such a call, and named the limit.
 * - `link`: the options of `rateLimitLink` say so.
 * - `hook`: a hook of that limit has sent the call.
 */
export type Evidence = "denial" | "link" | "hook";

/** A procedure that charges a limit. */
export interface ShownProcedure {
  path: string;
  evidence: Evidence;
}

const SUREST: readonly Evidence[] = ["denial", "link", "hook"];

export class Procedures {
  readonly #byLimit = new Map<string, Map<string, Evidence>>();

  learn(limit: string, path: string, evidence: Evidence): void {
    const paths = this.#byLimit.get(limit) ?? new Map<string, Evidence>();
    this.#byLimit.set(limit, paths);
    const known = paths.get(path);
    if (known && SUREST.indexOf(known) <= SUREST.indexOf(evidence)) return;
    paths.set(path, evidence);
  }

  /** The procedures of a limit, in order of their paths. */
  of(limit: string): ShownProcedure[] {
    const paths = [...(this.#byLimit.get(limit) ?? [])];
    return paths
      .map(([path, evidence]) => ({ path, evidence }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** The limits that calls of this procedure take from. */
  limitsOf(path: string): string[] {
    return [...this.#byLimit].flatMap(([limit, paths]) => (paths.has(path) ? [limit] : []));
  }

  /** The limits that denied a call of this procedure. */
  denying(path: string): string[] {
    return [...this.#byLimit].flatMap(([limit, paths]) =>
      paths.get(path) === "denial" ? [limit] : [],
    );
  }
}
