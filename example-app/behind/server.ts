/** Behind the other parts: the rows of the limits, and what each process has counted. */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { TRPCError } from "@trpc/server";
import { LIMITS } from "../shared/server/limiter.js";
import { type App, keysOf } from "../shared/server/trpc.js";
import { tellCounts } from "./other-processes.js";
import type { Statistics } from "./statistics.js";

const NAMES = Object.keys(LIMITS) as (keyof typeof LIMITS)[];
/** How many rows of each limit are shown. */
const SHOWN = 20;
const SECOND = 1000;

export function behindRouter({ t, limiter, statistics }: App) {
  /** In production, visitors must not fill their own buckets. */
  const canReset = process.env["NODE_ENV"] !== "production";

  const others = tellCounts(statistics.counts);

  /** The rows of all limits. */
  async function readRows() {
    // Limit: `list` says which keys have rows.
    const pages = await Promise.all(NAMES.map((name) => limiter.list(name, { count: SHOWN })));
    const items = pages.flatMap((page, index) =>
      page.items.map(({ key }) => ({ name: NAMES[index]!, key })),
    );
    // Limit: `snapshots` says what the rows hold.
    const snapshots = await limiter.snapshots(
      items.map(({ name, key }) => ({ name, ...(key !== undefined && { key }) })),
    );
    return {
      rows: items.map(({ key }, index) => ({ key, ...snapshots[index]! })),
      hasMore: pages.some(({ next }) => next !== undefined),
    };
  }

  let last: { second: number; read: ReturnType<typeof readRows> } | undefined;

  /** One read a second for all visitors of this process, and none while no visitor looks. */
  function rowsOfThisSecond(): ReturnType<typeof readRows> {
    const second = Math.floor(Date.now() / SECOND);
    if (last?.second !== second) last = { second, read: readRows() };
    return last.read;
  }

  return t.router({
    rows: t.procedure.subscription(async function* ({ ctx, signal }) {
      while (!signal?.aborted) {
        const { rows, hasMore } = await rowsOfThisSecond();
        const shown = rows.map(({ name, key, value, ts, used, closedUntil, config, now }) => ({
          id: idOf(name, key),
          name,
          key: key === undefined ? null : shorten(key),
          mine: key !== undefined && keysOf(ctx.visitor).includes(key),
          value,
          ts,
          used,
          closedUntil,
          config,
          now,
        }));
        // The visitor's own rows come first. The others keep their order, so that they do not jump.
        shown.sort((a, b) => Number(b.mine) - Number(a.mine));
        yield { process: ctx.process, rows: shown, hasMore };
        await sleep(SECOND - (Date.now() % SECOND), undefined, { signal }).catch(() => {});
      }
    }),

    /** The counts of each process since its start. */
    processes: t.procedure.query(({ ctx }) => ({
      process: ctx.process,
      canReset,
      all: [{ process: ctx.process, counts: statistics.counts }, ...others()]
        .sort((a, b) => a.process - b.process)
        .map(({ process, counts }) => ({ process, ...figuresOf(counts) })),
    })),

    reset: t.procedure.mutation(async ({ ctx }) => {
      if (!canReset) throw new TRPCError({ code: "FORBIDDEN" });
      const of = { key: ctx.visitor };
      const chosen = await limiter.overrides.get("playground", of);
      // Limit: deletes the visitor's rows, credits too. A bucket without a row is full.
      const deleted = await Promise.all(keysOf(ctx.visitor).map((key) => limiter.forget(key)));
      // `forget` deletes the visitor's choice in the playground, too, so set it again.
      if (chosen?.config)
        await limiter.overrides.set("playground", { ...of, config: chosen.config });
      return { process: ctx.process, rows: deleted.reduce((sum, rows) => sum + rows) };
    }),
  });
}

function figuresOf({ granted, denied, batches, calls, conflicts }: Statistics) {
  return {
    callsPerBatch: batches === 0 ? undefined : calls / batches,
    batches,
    conflicts,
    decisions: NAMES.map((name) => ({
      name,
      granted: granted[name] ?? 0,
      denied: denied[name] ?? 0,
    })),
  };
}

/** Characters. The keys of visitors are longer, and those of the pretend customers are not. */
const SHORT = 12;

/**
 * The first and the last four characters tell visitors apart, also numbered ones. The whole key of a
 * visitor stays on the server. A short key, such as "customer 10", is a name, and is shown as it is.
 */
function shorten(key: string): string {
  return key.length > SHORT ? `${key.slice(0, 4)}…${key.slice(-4)}` : key;
}

/** Tells rows apart whose shortened keys are equal. */
function idOf(name: string, key: string = ""): string {
  return createHash("sha256").update(`${name}\0${key}`).digest("base64url").slice(0, 16);
}
