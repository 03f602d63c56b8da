/** The callers that may use the admin router, over HTTP. */
import { initTRPC, TRPCError } from "@trpc/server";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { describe, expect, it } from "vitest";
import { createRateLimiter, memoryStore, MINUTE } from "../../../../server/index.js";
import {
  type AdminAuthorizeOptions,
  createRateLimitTRPC,
  SHARED_BUCKET,
  formatRateLimitError,
  type RateLimitAdminOptions,
} from "../../../../server/trpc/index.js";

interface Context {
  user: string;
}

type Name = "hiddenOne" | "hiddenTwo";
type Authorize = RateLimitAdminOptions<Context, Name>["authorize"];

/** As tRPC knows them, so that none is forgotten. */
function proceduresOf({ _def: { procedures } }: { _def: { procedures: object } }) {
  type Procedure = { _def: { type: "query" | "mutation" } };
  return Object.entries<Procedure>(procedures as Record<string, Procedure>).map(
    ([path, { _def: definition }]) => ({ path, type: definition.type }),
  );
}

function serve(authorize: Authorize | undefined) {
  const limiter = createRateLimiter({
    store: memoryStore(),
    clock: () => 0,
    overrides: true,
    limits: {
      hiddenOne: { kind: "token bucket", rate: 1, period: MINUTE, usage: true },
      hiddenTwo: { kind: "concurrency", slots: 1 },
    },
  });
  const t = initTRPC.context<Context>().create({
    isDev: false,
    errorFormatter: ({ shape, error }) => ({
      ...formatRateLimitError(shape, error, limiter),
      // What applications send of Zod's errors.
      issues: (error.cause as { issues?: unknown } | undefined)?.issues,
    }),
  });
  // What opens the router of pages does not open this one.
  const others = { t, limiter, authorize: () => true, key: () => "ada" };
  const rl = createRateLimitTRPC(
    authorize === undefined ? others : { ...others, admin: { authorize } },
  );
  const router = t.router({ rateLimitAdmin: rl.admin });
  const call = async (path: string, type: string, body: string) => {
    const query = type === "query" ? `?input=${encodeURIComponent(body)}` : "";
    const response = await fetchRequestHandler({
      endpoint: "",
      router,
      createContext: () => ({ user: "eve" }),
      req: new Request(`http://localhost/rateLimitAdmin.${path}${query}`, {
        method: type === "query" ? "GET" : "POST",
        headers: { "content-type": "application/json" },
        ...(type !== "query" && { body }),
      }),
    });
    return { status: response.status, text: await response.text() };
  };
  const all = proceduresOf(rl.admin);
  return { limiter, call, all };
}

const valid = { name: "hiddenOne", key: "ada", times: 2, from: 0, to: MINUTE, count: 1 };
/** Right, of a name that does not exist, of no name, wrong in every field, no object, and no JSON. */
const BODIES = [
  JSON.stringify(valid),
  ...Object.keys(valid).map((field) => JSON.stringify({ name: "hiddenOne", [field]: {} })),
  JSON.stringify({ name: "hiddenOne" }),
  JSON.stringify({ name: "other", key: "ada" }),
  JSON.stringify({ name: 7, key: [], times: -1, from: "x", count: 1e9, extra: true }),
  "{}",
  "null",
  '"hiddenOne"',
  "{",
];

/** Whether a procedure is an action of its own. `undo` takes an id, and is another action each time. */
const isAction = ({ path, type }: { path: string; type: string }) =>
  type === "mutation" && path !== "undo";

const REFUSALS: [title: string, authorize: Authorize | undefined][] = [
  ["without the option admin", undefined],
  ["where authorize says no", () => false],
  ["where authorize says no later", async () => false],
  ["where authorize returns what is not true itself", () => ({ allowed: false }) as never],
];

describe.each(REFUSALS)("a caller %s", (_, authorize) => {
  it("is FORBIDDEN to use each procedure, whatever the input, and learns no name", async () => {
    const { call, all } = serve(authorize);
    expect(all.map(({ path }) => path).toSorted()).toEqual(
      (
        "ban changes clear denials exempt give key limits list overrides plan raise reset top " +
        "undo usage"
      ).split(" "),
    );
    for (const { path, type } of all) {
      for (const body of BODIES) {
        const { status, text } = await call(path, type, body);
        expect([path, body, status]).toEqual([path, body, 403]);
        expect(text).toContain("FORBIDDEN");
        expect(text).not.toMatch(/hidden|issues|other/);
      }
    }
  });

  it("changes nothing", async () => {
    const { limiter, call, all } = serve(authorize);
    await limiter.limit("hiddenOne", { key: "ada" });
    for (const { path, type } of all) await call(path, type, JSON.stringify(valid));
    expect(await limiter.overrides.list()).toEqual([]);
    expect(await limiter.getValue("hiddenOne", { key: "ada" })).toMatchObject({ value: 0 });
  });
});

describe("authorize", () => {
  it("is asked for each action by its name, with the limit and the key", async () => {
    const asked: Omit<AdminAuthorizeOptions<Context, Name>, "ctx">[] = [];
    const { call, all } = serve(({ ctx, ...of }) => {
      expect(ctx).toEqual({ user: "eve" });
      asked.push(of);
      return false;
    });
    for (const { path, type } of all) await call(path, type, JSON.stringify(valid));
    const name = "hiddenOne";
    const view = { action: "view", name: undefined, key: undefined, all: false };
    const ada = { name, key: "ada", all: false };
    expect(Object.fromEntries(all.map(({ path }, i) => [path, asked[i]]))).toEqual({
      limits: view,
      list: { ...view, name },
      key: { ...view, key: "ada" },
      usage: { ...view, name },
      denials: { ...view, name },
      top: { ...view, name },
      ban: { ...ada, action: "ban" },
      exempt: { ...ada, action: "exempt" },
      raise: { ...ada, action: "raise" },
      give: { ...ada, action: "give" },
      plan: { ...ada, action: "plan" },
      clear: { ...ada, action: "clear" },
      reset: { ...ada, action: "reset" },
      overrides: { ...view, name },
      changes: { ...ada, action: "view" },
      // Asked for the action that is undone, once that is known.
      undo: view,
    });
  });

  it("hears that an action is for all keys, also where the input is refused afterwards", async () => {
    const { limiter, call, all } = serve(({ all: isForAll }) => !isForAll);
    for (const input of [{ all: true }, { all: true, key: "ada" }, { all: 1 }]) {
      const body = JSON.stringify({ name: "hiddenOne", times: 2, ...input });
      for (const { path } of all.filter(isAction)) {
        expect([path, (await call(path, "mutation", body)).status]).toEqual([path, 403]);
      }
    }
    expect(await limiter.overrides.list()).toEqual([]);
    const one = JSON.stringify({ name: "hiddenOne", key: "ada", all: false });
    expect((await call("ban", "mutation", one)).status).toBe(200);
  });

  it("is asked without a name that no limit has, and without a key that is none", async () => {
    const asked: unknown[] = [];
    const { call } = serve(({ name, key }) => {
      asked.push([name, key]);
      return false;
    });
    await call("ban", "mutation", JSON.stringify({ name: "toString", key: { a: 1 } }));
    expect(asked).toEqual([[undefined, undefined]]);
  });

  it("tells a caller who may use the router what is wrong, and no name of another limit", async () => {
    const { call } = serve(() => true);
    const unknown = await call("ban", "mutation", JSON.stringify({ name: "wrong", key: "ada" }));
    expect(unknown).toMatchObject({ status: 400 });
    expect(unknown.text).toContain("There is no such rate limit");
    const wrong = await call("list", "query", JSON.stringify({ name: "hiddenOne", count: 201 }));
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain("count");
    for (const { text } of [unknown, wrong]) expect(text).not.toContain("hidden");
  });

  it("lets a caller view who may not change anything, and shows only these actions", async () => {
    const { call, all } = serve(({ action }) => action === "view");
    for (const { path, type } of all) {
      const { status } = await call(path, type, JSON.stringify(valid));
      // The other inputs have fields too many here.
      expect([path, status]).toEqual([
        path,
        isAction({ path, type }) ? 403 : path === "limits" ? 200 : 400,
      ]);
    }
    const { text } = await call("limits", "query", "null");
    expect(JSON.parse(text)).toMatchObject({ result: { data: { actions: ["view"] } } });
  });

  it("shows a caller the limits alone that this caller may view", async () => {
    const { limiter, call } = serve(({ name }) => name === undefined || name === "hiddenTwo");
    await limiter.limit("hiddenOne", { key: "ada" });
    await limiter.limit("hiddenOne", { key: "ada" });
    await limiter.overrides.set("hiddenOne", { key: "ada", times: 2 });
    for (const [path, body] of [
      ["limits", "null"],
      ["key", '{"key":"ada"}'],
      ["denials", "{}"],
      ["overrides", "{}"],
      ["changes", "{}"],
    ] as const) {
      const { status, text } = await call(path, "query", body);
      expect(status).toBe(200);
      expect(text).not.toContain("hiddenOne");
    }
  });

  it("that throws or rejects lets nobody in, and tells nothing of its error", async () => {
    const fails = (): never => {
      throw new Error("no connection to hiddenOne");
    };
    for (const authorize of [fails, async () => fails()]) {
      const { limiter, call, all } = serve(authorize);
      for (const { path, type } of all) {
        const { status, text } = await call(path, type, JSON.stringify(valid));
        expect([path, status]).toEqual([path, 500]);
        expect(text).not.toContain("hidden");
      }
      expect(await limiter.overrides.list()).toEqual([]);
    }
  });

  it("may throw an error of tRPC, which the caller gets", async () => {
    const { call } = serve(() => {
      throw new TRPCError({ code: "UNAUTHORIZED", message: "Log in first" });
    });
    const { status, text } = await call("limits", "query", "null");
    expect(status).toBe(401);
    expect(text).toContain("Log in first");
  });
});

describe("the option admin", () => {
  const limits = { one: { kind: "token bucket", rate: 1, period: MINUTE } } as const;
  const t = initTRPC.create();

  it("costs nothing before the router is read, and nothing where nobody may look", async () => {
    const limiter = createRateLimiter({ store: memoryStore(), limits });
    const listens: unknown[] = [];
    const inside = Symbol.for("trpc-rate-limit.inside");
    const { decisions } = (limiter as unknown as Record<symbol, { decisions: { heard: unknown } }>)[
      inside
    ]!;
    const rl = createRateLimitTRPC({
      key: SHARED_BUCKET,
      t,
      limiter,
      admin: { authorize: () => true },
    });
    listens.push(decisions.heard);
    expect(createRateLimitTRPC({ key: SHARED_BUCKET, t, limiter }).admin).toBeDefined();
    listens.push(decisions.heard);
    expect(rl.admin).toBe(rl.admin);
    listens.push(typeof decisions.heard);
    expect(listens).toEqual([undefined, undefined, "function"]);
  });

  it("works with a limiter that was spread, and names what is wrong with another object", () => {
    const limiter = createRateLimiter({ store: memoryStore(), limits });
    const admin = { authorize: () => true };
    expect(
      createRateLimitTRPC({ key: SHARED_BUCKET, t, limiter: { ...limiter }, admin }).admin,
    ).toBeDefined();
    const { limits: own, clock } = limiter;
    const other = createRateLimitTRPC({
      key: SHARED_BUCKET,
      t,
      limiter: { limits: own, clock } as never,
      admin,
    });
    expect(() => other.admin).toThrow("needs the limiter that createRateLimiter() has returned");
  });
});
