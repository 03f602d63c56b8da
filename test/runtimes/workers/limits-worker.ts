/**
 * A worker with limits on D1 and in a Durable Object. The path of a request names the kind of store and
 * the action, such as `/d1/limit?key=ada`.
 */
import {
  createRateLimiter,
  type D1DatabaseLike,
  d1Store,
  type DurableStorageLike,
  durableStore,
  MINUTE,
  type RateLimitStore,
} from "../../../server/index.js";
import { runContract } from "./run-contract.js";

/** A binding of Durable Objects. */
interface Namespace {
  get(id: unknown): { fetch(request: Request): Promise<Response> };
  idFromName(name: string): unknown;
}

interface Env {
  DB: D1DatabaseLike;
  LIMITS: Namespace;
  /** The same class without SQLite. */
  OLD: Namespace;
}

const limits = {
  few: { kind: "token bucket", rate: 37, period: 60 * MINUTE },
  fewer: { kind: "fixed window", rate: 23, period: 600_000 * MINUTE, start: 0 },
  tokens: { kind: "token bucket", rate: 100, period: 600_000 * MINUTE },
} as const;

/** A fixed time far from the end of a window. Nothing refills meanwhile. */
const clock = () => Date.UTC(2030, 0, 1);

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (new URL(request.url).pathname.startsWith("/d1/")) return answer(request, d1Store(env.DB));
    const space = new URL(request.url).pathname.startsWith("/old/") ? env.OLD : env.LIMITS;
    return space.get(space.idFromName("all")).fetch(request);
  },
};

export class Limits {
  readonly #storage: DurableStorageLike;
  readonly #abort: () => void;
  #store: RateLimitStore<never> | undefined;

  constructor(ctx: { storage: DurableStorageLike; abort(): void }) {
    this.#storage = ctx.storage;
    this.#abort = () => ctx.abort();
  }

  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname.endsWith("/abort")) this.#abort();
    if (pathname.endsWith("/contract")) return Response.json(await this.#contract());
    if (pathname.endsWith("/sql")) return Response.json(this.#run(await request.text()));
    try {
      this.#store ??= durableStore(this.#storage);
    } catch (error) {
      return new Response(String(error), { status: 500 });
    }
    return answer(request, this.#store);
  }

  #run(text: string): unknown {
    return this.#storage.sql.exec(text).toArray();
  }

  async #contract() {
    return runContract(async () => {
      this.#run('DROP TABLE IF EXISTS "RateLimit"');
      const [store, peer] = [durableStore(this.#storage), durableStore(this.#storage)].map(
        ({ transaction: _transaction, using: _using, ...single }) => single as RateLimitStore,
      );
      return { store: store!, peer: peer!, close: async () => {} };
    });
  }
}

export class LimitsWithoutSqlite extends Limits {}

/** Each request has its own limiter, as in a worker. */
async function answer(request: Request, store: RateLimitStore<never>): Promise<Response> {
  const limiter = createRateLimiter({ store, limits, clock, timeout: 60_000, logger: false });
  const { pathname, searchParams } = new URL(request.url);
  const key = searchParams.get("key") ?? "ada";
  const [, , what] = pathname.split("/");
  try {
    switch (what) {
      case "limit":
        return Response.json((await limiter.limit("few", { key })).ok);
      case "limitAll": {
        const items = [
          { name: "few" as const, key },
          { name: "fewer" as const, key },
        ];
        const { ok } = await limiter.limitAll(key < "b" ? items : items.toReversed());
        return Response.json(ok);
      }
      case "settle": {
        const result = await limiter.limit("tokens", { key, count: 10 });
        if (result.ok) await limiter.settle(result, 3);
        return Response.json(result.ok);
      }
      case "reset":
        await limiter.reset("few", { key });
        return Response.json(true);
      case "value": {
        const name = (searchParams.get("name") ?? "few") as "few";
        return Response.json((await limiter.getValue(name, { key })).value);
      }
      case "transaction":
        return Response.json(await limiter.transaction(({ limit }) => limit("few", { key })));
      case "using":
        return Response.json(await limiter.using(undefined as never).limit("few", { key }));
      case "prune":
        return Response.json(await limiter.prune());
      default:
        return new Response(null, { status: 404 });
    }
  } catch (error) {
    return new Response(String(error), { status: 500 });
  }
}
