/**
 * The table as a visitor's code sees it. Each method is one statement: on its way to the table, done there
 * at one instant, and answered. The names are those of Redis and Prisma, whose statements they stand for.
 */
import { MOST, type Op } from "./protocol.js";

type Applied = { values: unknown[]; result: unknown };
/** @returns what the table answers. `apply` runs at the table. */
export type Send = (
  op: Pick<Op, "kind" | "keys"> & Partial<Op>,
  apply?: (values: unknown[]) => Applied,
) => Promise<unknown>;

export interface Database {
  /** @returns the value; `null` if there is none. */
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<unknown>;
  /** @returns the sum. */
  increment(key: string, by?: number): Promise<number>;
  incr(key: string): Promise<number>;
  /** The key is gone after some seconds. */
  expire(key: string, seconds: number): Promise<unknown>;
  /** One statement that reads and writes. @returns what it has written. */
  update(key: string, next: (value: unknown) => unknown): Promise<unknown>;
  /** One transaction over several keys. @returns its `result`. */
  transaction(keys: readonly string[], run: (values: unknown[]) => Applied): Promise<unknown>;
  rateLimit: {
    findUnique(of: { where: { key: string } }): Promise<{ key: string; count: unknown } | null>;
    upsert(of: {
      where: { key: string };
      create: { count: number };
      update: { count: { increment: number } };
    }): Promise<{ key: string; count: unknown }>;
  };
}

const keyOf = (key: unknown): string[] => {
  if (typeof key !== "string" || key.length > MOST.key) {
    throw new TypeError(`a key is a text of at most ${MOST.key} letters`);
  }
  return [key];
};

/** @throws RangeError about a value that is too long, before it is made a text where that may take long. */
export function textOf(value: unknown): string {
  if (typeof value === "string" && value.length > MOST.value) throw tooLong();
  const text: unknown = JSON.stringify(value);
  if (typeof text !== "string") throw new TypeError("a value of the table must be JSON");
  if (text.length > MOST.value) throw tooLong();
  return text;
}

const tooLong = () =>
  new RangeError(`a value of the table has at most ${MOST.value} letters of JSON`);

export function databaseOf(send: Send): Database {
  const increment = async (key: string, by: unknown = 1) =>
    (await send({ kind: "increment", keys: keyOf(key), amount: Number(by) || 0 })) as number;
  const transaction = (keys: readonly string[], run: (values: unknown[]) => Applied) =>
    send({ kind: "update", keys: keys.flatMap(keyOf) }, run);
  const update = (key: string, next: (value: unknown) => unknown) =>
    transaction([key], ([value]) => {
      const written = next(value);
      return { values: [written], result: written };
    });

  return {
    get: async (key) => send({ kind: "get", keys: keyOf(key) }),
    set: async (key, value) => send({ kind: "set", keys: keyOf(key), value: textOf(value) }),
    increment,
    incr: (key) => increment(key),
    expire: async (key, seconds: unknown) =>
      send({ kind: "expire", keys: keyOf(key), amount: Number(seconds) || 0 }),
    update,
    transaction,
    rateLimit: {
      async findUnique({ where: { key } }) {
        const count = await send({ kind: "get", keys: keyOf(key) });
        return count === null ? null : { key, count };
      },
      async upsert({ where: { key }, create, update: { count } }) {
        // PostgreSQL makes one statement of it: INSERT … ON CONFLICT DO UPDATE.
        const written = await update(key, (value) =>
          value === undefined ? create.count : Number(value) + count.increment,
        );
        return { key, count: written };
      },
    },
  };
}
