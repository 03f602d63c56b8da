/**
 * Compares the take of Redis with `core`. `DIFFERENTIAL_CASES` sets the number of cases. The default
 * is a few thousand, so that the suite stays quick.
 */
import { describe, expect, it } from "vitest";
import type { Row } from "../../../core/rows/row.js";
import type { RedisPort } from "../../../server/redis/redis-port.js";
import { NOT_HELD, type RedisRows } from "../../../server/redis/redis-rows.js";
import { rowKey } from "../../../server/store/store.js";
import { deleteKeys, NO_REDIS, redisUrl } from "../../support/redis-rows.js";
import { findMismatches, type Subject } from "../store/sql/differential.js";
import { openRows } from "./open-rows.js";

const cases = Number(process.env["DIFFERENTIAL_CASES"] ?? 8000);
const timeout = 20_000 + cases;

const FAULTS: readonly [pattern: RegExp, replacement: string][] = [
  [/used <= most/, "used < most"],
  [/elapsed \* rate \/ period/, "elapsed * (rate / period)"],
  [/if elapsed < 0 then elapsed = 0.0 end/, ""],
  [/if now > ts then ts = now end/, "ts = now"],
  [/if used < least then used = least end/, ""],
  [/if used < over then isOpen = false end/, ""],
  [/if windows > 0 and over/, "if false and over"],
  [/if used > own then used = capacity - used end/, ""],
  [/used = capacity - used/, "used = capacity"],
  [/\[ARGV\[at\] \+ 1\]/, "[1]"],
  [/'%.17g'/, "'%.16g'"],
  [/'<ddd', used, ts, stays/, "'<ddd', used, now, stays"],
  [/'<dd', used, ts/, "'<dd', ts, used"],
];

/** Faults that the take of one row could have, too. */
const FAULTS_OF_ONE: typeof FAULTS = [
  ...FAULTS.filter(([pattern]) => !pattern.source.includes("ARGV")),
  [/isWindow = fresh ~= nil/, "isWindow = false"],
  [/ARGV\[8\] or ARGV\[4\]/, "ARGV[4]"],
  [/ARGV\[9\] or ARGV\[6\]/, "ARGV[6]"],
  [/ARGV\[10\] or 0/, "0"],
  [/ARGV\[11\] or -1e300/, "-1e300"],
];

type Take = (
  rows: RedisRows,
  ...args: Parameters<RedisRows["take"]>
) => ReturnType<RedisRows["take"]>;

const takes: Record<string, Take> = {
  take: (rows, lines, now) => rows.take(lines, now),
  async "take of one row"(rows, lines, now) {
    const states = await Promise.all(lines.map((line) => rows.takeOne(line, now)));
    const taken = lines.map(({ row }, i) => [rowKey(row), states[i]] as const);
    return new Map(taken.filter((each): each is [string, Row] => each[1] !== undefined));
  },
};

async function openSubject(take: Take, change?: (port: RedisPort) => RedisPort) {
  const { rows, client, prefix, [Symbol.asyncDispose]: dispose } = await openRows(change);
  const subject: Subject = {
    statements: {
      mixesTerms: true,
      /** What was written, where it is what was answered. */
      async take(_, lines, { now }) {
        const taken = await take(rows, lines, now);
        const { states } = await rows.read(lines.map(({ row }) => row));
        for (const [id, { used, ts }] of taken) {
          const { used: written, ts: writtenTs } = states.get(id) ?? {};
          if (!Object.is(used, written) || !Object.is(ts, writtenTs)) {
            taken.set(id, { used: NaN, ts: NaN });
          }
        }
        return taken;
      },
      async insert(_, writes) {
        const groups = writes.map((each) => ({ writes: [each], decisions: [] }));
        await rows.write(groups, undefined, NOT_HELD);
        return new Set();
      },
    },
    connection: { query: async () => [], execute: async () => 0 },
    inserts: true,
    empty: () => deleteKeys(client, prefix),
  };
  return { ...subject, [Symbol.asyncDispose]: dispose };
}

describe.skipIf(redisUrl === undefined).each([
  ["take", FAULTS],
  ["take of one row", FAULTS_OF_ONE],
])("the %s of Redis", (subjectName, faults) => {
  const take = takes[subjectName]!;

  it("writes exactly what core calculates, to the last bit", { timeout }, async () => {
    await using subject = await openSubject(take);
    expect((await findMismatches(subject, { cases, seed: 7 })).slice(0, 3)).toEqual([]);
  });

  it.each(faults)("is found wrong with %s replaced", { timeout }, async (pattern, replacement) => {
    let injected = 0;
    const change = (port: RedisPort): RedisPort => ({
      ...port,
      async send(command, routingKey) {
        const [name, script, ...args] = command;
        if (name === "EVALSHA") throw new Error("NOSCRIPT");
        if (name !== "EVAL") return port.send(command, routingKey);
        const faulty = script!.replace(pattern, replacement);
        if (faulty !== script) injected++;
        return port.send([name, faulty, ...args], routingKey);
      },
    });
    await using subject = await openSubject(take, change);
    // A script that fails is found, too.
    const found = await findMismatches(subject, { cases: 20_000, seed: 3 }).catch(() => [1]);
    expect(injected).toBeGreaterThan(0);
    expect(found.length).toBeGreaterThan(0);
  });
});

describe.runIf(redisUrl === undefined)("the take of Redis", () => {
  it("is compared with core", ({ skip }) => skip(NO_REDIS));
});
