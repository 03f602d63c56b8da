/**
 * The checks of what clients send. The schemas of `server/trpc` have the same rules: unknown fields are
 * errors. The checks need no package, because a handler of HTTP works without Zod. No message repeats a
 * text of a client.
 */
import { validateCount } from "../../core/count.js";
import { validateKey } from "../../core/validate-key.js";
import { RefusedRequest } from "./refused.js";

/** The most limits that one stream can follow, and that one request can ask for. */
export const MAX_WATCHED = 100;
/** The longest id of a stream. */
export const MAX_STREAM_ID = 64;

/** One limit, and a key if the client requests one. */
export interface Item<TName extends string> {
  name: TName;
  key?: string | undefined;
}

/** One limit, and the tokens of a call to ask about. */
export interface Query<TName extends string> extends Item<TName> {
  count?: number | undefined;
}

type Field = "key" | "count" | "reserve";

/** The checks for a server whose clients may know these names. */
export class LiveInputs<TName extends string> {
  readonly #names: ReadonlySet<unknown>;

  constructor(names: readonly TName[]) {
    this.#names = new Set(names);
  }

  /**
   * @throws RefusedRequest `BAD_REQUEST` for an unknown name, and for a field that is not in `fields`.
   * @throws RateLimitInputError for a key or a count that is not valid.
   */
  item(given: unknown, fields: readonly Field[]): Query<TName> & { reserve?: boolean | undefined } {
    if (!isObject(given)) throw refused("an item is not an object");
    for (const field in given) {
      if (field === "name" || fields.some((known) => known === field)) continue;
      throw refused("an item has an unknown field");
    }
    const { name, key, count, reserve } = given;
    if (!this.#names.has(name)) throw refused("name is no rate limit that clients may know");
    if (key !== undefined) validateKey(key as string);
    if (count !== undefined) validateCount(count as number);
    if (reserve !== undefined && typeof reserve !== "boolean") {
      throw refused("reserve is not a boolean");
    }
    return {
      name: name as TName,
      ...(key !== undefined && { key: key as string }),
      ...(count !== undefined && { count: count as number }),
      ...(reserve !== undefined && { reserve }),
    };
  }

  /** Throws as `item` does. */
  items(given: unknown, fields: readonly Field[]): Query<TName>[] {
    if (!Array.isArray(given) || given.length === 0 || given.length > MAX_WATCHED) {
      throw refused(`items is not a list of 1 to ${MAX_WATCHED} items`);
    }
    return given.map((item) => this.item(item, fields));
  }
}

/** @throws RefusedRequest `BAD_REQUEST` */
export function checkedStreamId(given: string): string {
  if (given.length >= 1 && given.length <= MAX_STREAM_ID) return given;
  throw refused(`the id of a stream has 1 to ${MAX_STREAM_ID} characters`);
}

function isObject(given: unknown): given is Record<string, unknown> {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}

function refused(message: string): RefusedRequest {
  return new RefusedRequest("BAD_REQUEST", message);
}
