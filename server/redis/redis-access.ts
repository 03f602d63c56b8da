/**
 * What group commit needs, by scripts: on all rows of a server, or in a cluster on those of one tag.
 * A script is atomic, so a read is a snapshot, and a group is written all or nothing.
 */
import type { RateLimitState } from "../../core/calculate.js";
import type { WriteGroup } from "../store/plan-writes.js";
import {
  type RowAccess,
  type RowStatements,
  UnsentError,
  type WriteOutcomes,
} from "../store/row-access.js";
import { rowKey, type RowId } from "../store/store.js";
import { randomText } from "./marks.js";
import { RedisConflictError, redisError } from "./redis-errors.js";
import { isHeld, stateOf, takeWords, writeWords } from "./redis-rows.js";
import type { ScriptRunner } from "./run-script.js";
import type { Tags } from "./tags.js";

/** How long a process may hold rows, ms. If it was killed, they are free after that. */
const HOLD = 1000;
/** How long a process asks for rows that another one holds, ms. */
const ASK = 150;
/** The longest pause between two such questions, ms. */
const PAUSE = 4;

const NOT_HELD = "";

export function createRedisAccess(
  tags: Tags,
  runner: ScriptRunner,
  prepare: () => Promise<void> | undefined,
): RowAccess {
  const keysOf = (rows: readonly RowId[]) => rows.map(tags.keyOf);

  async function ask(name: "read" | "hold", rows: readonly RowId[], args: readonly string[]) {
    const words = await runner.run(name, keysOf(rows), args);
    const states = new Map<string, RateLimitState>();
    for (let i = 0; i < rows.length; i++) {
      const state = stateOf(words[i]!);
      if (state !== undefined) states.set(rowKey(rows[i]!), state);
    }
    return { states, isHeld: words.some(isHeld) };
  }

  /** @param holder whoever holds the rows. A write ends that. */
  async function write(
    groups: readonly WriteGroup[],
    isWanted: ((group: WriteGroup) => boolean) | undefined,
    holder: string,
  ): Promise<WriteOutcomes> {
    const outcomes: WriteOutcomes = new Map();
    const sent: WriteGroup[] = [];
    for (const group of groups) {
      if (isWanted === undefined || isWanted(group)) sent.push(group);
      else outcomes.set(group, { error: new UnsentError() });
    }
    if (sent.length === 0) return outcomes;
    try {
      const now = runner.clock.now();
      const args = [holder];
      for (const { writes } of sent) {
        args.push(String(writes.length));
        for (const each of writes) args.push(...writeWords(each, now));
      }
      const rows = sent.flatMap(({ writes }) => writes.map(({ row }) => row));
      const words = await runner.run("write", keysOf(rows), args);
      for (const [i, group] of sent.entries()) {
        if (words[i] === "1") outcomes.set(group, "written");
        else if (group.writes.every(({ was }) => was === null)) outcomes.set(group, "exists");
      }
    } catch (error) {
      if (error instanceof RedisConflictError) return outcomes;
      for (const group of sent) outcomes.set(group, { error });
    }
    return outcomes;
  }

  /** Holds the rows that are read, until they are written or `run` has ended. */
  async function locked<TResult>(run: (inside: RowStatements) => Promise<TResult>) {
    const holder = randomText();
    const held = new Map<string, RowId>();
    try {
      return await run({
        async read(rows) {
          const until = performance.now() + ASK;
          for (;;) {
            try {
              for (const row of rows) held.set(rowKey(row), row);
              return (await ask("hold", rows, [holder, String(HOLD)])).states;
            } catch (error) {
              const isLate = performance.now() >= until;
              if (!(error instanceof RedisConflictError) || isLate) throw error;
              await new Promise((resolve) => setTimeout(resolve, PAUSE * Math.random()));
            }
          }
        },
        async write(groups, isWanted) {
          const outcomes = await write(groups, isWanted, holder);
          for (const [{ writes }, outcome] of outcomes) {
            if (outcome !== "written") continue;
            for (const { row } of writes) held.delete(rowKey(row));
          }
          return outcomes;
        },
      });
    } finally {
      // Nothing waits for it. If it is lost, the rows are free after their time.
      if (held.size > 0)
        runner.run("release", keysOf([...held.values()]), [holder]).catch(() => {});
    }
  }

  return {
    prepare,
    locked,
    async read(rows) {
      return (await ask("read", rows, [])).states;
    },
    write: (groups, isWanted) => write(groups, isWanted, NOT_HELD),
    async take(lines, { now, isWanted }) {
      if (!isWanted()) throw new UnsentError();
      const rows = lines.map(({ row }) => row);
      const words = await runner.run("take", keysOf(rows), takeWords(lines, now));
      const taken = new Map<string, RateLimitState>();
      for (let i = 0; i < rows.length; i++) {
        const state = stateOf(words[i]!, now);
        if (state !== undefined) taken.set(rowKey(rows[i]!), state);
      }
      return taken;
    },
    mixesTerms: true,
    serializable: false,
    isConflict: (error) => error instanceof RedisConflictError,
    wrap: redisError,
    maxInFlight: 2,
    probe: () => runner.ping(),
  };
}
