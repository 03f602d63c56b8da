/**
 * What processes send each other while an operator asks for the keys with the most: a question, and answers
 * in parts that a channel can carry. Any user of the channel can send something, so every message is checked
 * by a strict schema, and what does not fit is ignored. Keys are stored keys, hashed where they are hashed.
 */
import { z } from "zod/v4";
import { MAX_KEY_LENGTH } from "../../../core/validate-key.js";
import { bytesOf } from "../../changes/change-payloads.js";
import { keySchema } from "../schemas.js";
import { type KeyCounts, noKeyCounts, type TopCounts } from "./key-history.js";
import type { TopQuestion } from "./top-of-processes.js";

/** The most bytes of a message in JSON, below the 8,000 of NOTIFY with what a channel adds. */
const MOST_BYTES = 7000;
/** The most parts of an answer: some 400 keys that look like an id. */
export const MOST_PARTS = 4;

const id = z.string().min(1).max(16);
const name = z.string().min(1).max(MAX_KEY_LENGTH);
const instant = z.int().min(0);
const amount = z
  .number()
  .min(0)
  .max(2 ** 53);
const counts = [amount, amount, amount] as const;
const key = z.union([z.literal(""), keySchema]);

const message = z.discriminatedUnion("top", [
  z.strictObject({
    top: z.literal("ask"),
    id,
    from: instant,
    to: instant,
    by: z.enum(["denied", "taken"]),
    /** All limits, where the names do not fit. */
    names: z.array(name).max(1000).optional(),
  }),
  z.strictObject({
    top: z.literal("tell"),
    id,
    /** The process that answers. */
    who: id,
    since: instant,
    /** For each limit: what this part adds to its total, and some of its keys. */
    limits: z
      .array(z.tuple([name, ...counts, z.array(z.tuple([key, ...counts])).max(1000)]))
      .max(1000),
  }),
]);

export type TopMessage = z.infer<typeof message>;
export type TopAsk = Extract<TopMessage, { top: "ask" }>;
export type TopTell = Extract<TopMessage, { top: "tell" }>;

/** `undefined` for what is no message of this form. */
export function readMessage(received: unknown): TopMessage | undefined {
  return message.safeParse(received).data;
}

export function askMessage(question: TopQuestion, of: { id: string; names: string[] }): TopAsk {
  const { from, to, by } = question;
  const ask = { top: "ask" as const, id: of.id, from, to, by };
  const named = { ...ask, names: of.names };
  return bytesOf(JSON.stringify(named)) <= MOST_BYTES ? named : ask;
}

/** An answer in parts: the totals first, and then the keys of all limits, the most first, until it is full. */
export function tellMessages(
  of: Pick<TopTell, "id" | "who" | "since">,
  by: "denied" | "taken",
  byName: ReadonlyMap<string, TopCounts>,
): TopTell[] {
  const parts: Part[] = [];
  const nextOf = (size: number): Part | undefined => {
    const last = parts.at(-1);
    if (last !== undefined && last.bytes + size <= MOST_BYTES) return last;
    if (parts.length === MOST_PARTS) return undefined;
    const part = { bytes: 200, limits: new Map<string, TopTell["limits"][number]>() };
    parts.push(part);
    return part;
  };
  const put = (ofName: string, total: KeyCounts, entry?: [string, KeyCounts]) => {
    const line = entry && ([entry[0], ...numbersOf(entry[1])] as const);
    const head = [ofName, ...numbersOf(total)] as const;
    // Both, although the head may be there: a little less fits than could.
    const part = nextOf(bytesOf(JSON.stringify([...head, line ?? []])) + 8);
    if (part === undefined) return;
    const limit = part.limits.get(ofName);
    if (limit === undefined) part.limits.set(ofName, [...head, line ? [[...line]] : []]);
    else if (line) limit[4].push([...line]);
    part.bytes += bytesOf(JSON.stringify(limit === undefined ? [...head, line ?? []] : line)) + 4;
  };
  for (const [ofName, { total }] of byName) put(ofName, total);
  const keys = [...byName].flatMap(([ofName, found]) =>
    [...found.keys].map((entry) => ({ ofName, entry, most: entry[1][by] })),
  );
  keys.sort((a, b) => b.most - a.most);
  for (const { ofName, entry, most } of keys) if (most > 0) put(ofName, noKeyCounts(), entry);
  return parts.map(({ limits }) => ({ top: "tell", ...of, limits: [...limits.values()] }));
}

interface Part {
  bytes: number;
  readonly limits: Map<string, TopTell["limits"][number]>;
}

function numbersOf({ granted, denied, taken }: KeyCounts): [number, number, number] {
  return [granted, denied, taken];
}
