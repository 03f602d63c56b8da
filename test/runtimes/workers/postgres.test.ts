import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPostgres, type TestDatabase } from "../../support/database.js";
import { requestAtOnce } from "./request-at-once.js";
import { hasWorkerd, NO_WORKERD, type StartedWorker, startWorker } from "./start-worker.js";

describe.skipIf(!hasWorkerd)(`PostgreSQL over TCP from a Worker (${NO_WORKERD})`, () => {
  let database: TestDatabase;
  let worker: StartedWorker;
  beforeAll(async () => {
    database = await createPostgres();
    const url = new URL(database.url);
    // Hyperdrive needs a user name and a password.
    url.username ||= "postgres";
    url.password ||= "none";
    worker = await startWorker(new URL("postgres-worker.ts", import.meta.url), {
      bindings: { POSTGRES_URL: url.href },
      hyperdrives: { HYPERDRIVE: url.href },
      compatibilityFlags: ["nodejs_compat"],
    });
  });
  afterAll(async () => {
    await worker[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  const json = async (path: string) => (await worker.fetch(path)).json() as Promise<unknown>;

  it.each(["client", "hyperdrive", "pool"])(
    "a limiter per request grants exactly its tokens to simultaneous requests (%s)",
    async (path) => {
      for (let round = 0; round < 3; round++) {
        const counts = await requestAtOnce(worker, `${path}?key=${path}${round}`);
        expect(counts).toEqual({ "1": 37, "0": 23 });
      }
    },
  );

  it("a limiter per request sends one statement per call, once the table was checked", async () => {
    await json("client?key=first");
    const before = (await json("statements")) as number;
    for (let i = 0; i < 10; i++) await json("client?key=later");
    expect((await json("statements")) as number).toBe(before + 10);
  });

  it("a client charges several limits together", async () => {
    const counts = await requestAtOnce(worker, "all?key=all", 20);
    expect(counts).toEqual({ true: 5, false: 15 });
  });

  it("limits join the transaction that the application has begun on its client", async () => {
    expect(await json("using?key=using")).toEqual([true, 37]);
  });

  it("a client has no transactions of the limiter's own, and says so", async () => {
    expect(await json("transaction?key=t")).toContain(
      "transaction() needs a transaction, and this driver has none",
    );
  });

  it("a pool at the top of a module is refused, in words", async () => {
    expect(await json("refused")).toContain(
      "a store at the top of a module cannot use a pool on Cloudflare Workers",
    );
  });

  it("a pool that requests share says what to do when it hangs", async () => {
    expect(await json("first-pool?key=shared")).toBe(1);
    expect(await json("first-pool?key=shared")).toContain(
      "on Cloudflare Workers, a database client, its store and its limiter belong to one request",
    );
  });
});
