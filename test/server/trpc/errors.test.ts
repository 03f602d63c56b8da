import { createTRPCClient, httpBatchLink, type TRPCClientError } from "@trpc/client";
import { initTRPC } from "@trpc/server";
import { describe, expect, it } from "vitest";
import { z, ZodError } from "zod";
import { createRateLimiter, isRateLimitError, memoryStore, MINUTE } from "../../../server/index.js";
import {
  createRateLimitTRPC,
  SHARED_BUCKET,
  formatRateLimitError,
} from "../../../server/trpc/index.js";
import { startServer } from "../../support/http.js";

/** An app with a formatter that adds a field to every error. */
async function startApp() {
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { send: { kind: "token bucket", rate: 1, period: MINUTE } },
  });
  const t = initTRPC.create({
    errorFormatter: ({ shape, error }) =>
      formatRateLimitError(
        {
          ...shape,
          data: {
            ...shape.data,
            issues: error.cause instanceof ZodError ? error.cause.issues.length : 0,
          },
        },
        error,
        limiter,
      ),
  });
  const rl = createRateLimitTRPC({ key: SHARED_BUCKET, t, limiter });
  const router = t.router({
    send: t.procedure
      .input(z.string().min(1))
      .use(rl.rateLimited("send"))
      .query(({ input }) => input),
    free: t.procedure.query(() => "free"),
  });
  const server = await startServer(router, () => ({}));
  const client = createTRPCClient<typeof router>({ links: [httpBatchLink({ url: server.url })] });
  return { server, client, caller: t.createCallerFactory(router)({}), router };
}

describe("errors", () => {
  it("keep the fields of the application's own formatter, and their types", async () => {
    const { server, client, router } = await startApp();
    await using _ = server;
    await client.send.query("a");
    const errors = await Promise.all(
      ["b", ""].map((text) =>
        client.send.query(text).then(
          () => expect.fail("it passed"),
          (error: unknown) => error as TRPCClientError<typeof router>,
        ),
      ),
    );
    const name: "send" | undefined = errors[0]!.data?.rateLimit?.name;
    const issues: number | undefined = errors[1]!.data?.issues;
    expect([name, issues]).toEqual(["send", 1]);
    expect(errors.map(isRateLimitError)).toEqual([true, false]);
  });

  it("identify the denied calls of a mixed batch, on the wire and serialised", async () => {
    const { server } = await startApp();
    await using _ = server;
    const input = encodeURIComponent(JSON.stringify({ 0: "a", 1: "b", 3: "" }));
    const response = await fetch(`${server.url}/send,send,free,send?batch=1&input=${input}`);
    expect(response.status).toBe(207);
    const answers = (await response.json()) as { error?: unknown; result?: { data: unknown } }[];
    expect(answers.map(({ result }) => result?.data)).toEqual(["a", undefined, "free", undefined]);
    expect(answers.map(({ error }) => isRateLimitError(error))).toEqual([
      false,
      true,
      false,
      false,
    ]);
    const kept = JSON.stringify(answers[1]!.error);
    const restored: unknown = JSON.parse(kept);
    expect(isRateLimitError(restored) && restored.data.rateLimit.retryAfter).toBeGreaterThan(0);
  });

  it("are recognised if procedures are called without HTTP", async () => {
    const { server, caller } = await startApp();
    await using _ = server;
    await caller.send("a");
    const error = await caller.send("b").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "TRPCError", code: "TOO_MANY_REQUESTS" });
    expect(isRateLimitError(error) && error.data.rateLimit.name).toBe("send");
  });

  it("are not recognised in similar objects", () => {
    for (const value of [
      null,
      undefined,
      "RateLimited",
      { data: null },
      { data: { rateLimit: { kind: "RateLimited" } } },
      { data: { rateLimit: { kind: "Other", name: "a", retryAfter: 1 } } },
    ]) {
      expect(isRateLimitError(value)).toBe(false);
    }
  });
});
