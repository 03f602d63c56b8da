// @vitest-environment jsdom
/** A mutation whose answer is lost on its way is sent again, and is charged once. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, renderHook } from "@testing-library/react";
import { createTRPCClient, httpLink } from "@trpc/client";
import { createHTTPServer } from "@trpc/server/adapters/standalone";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { withOnceId } from "../../client/index.js";
import { createRateLimitReact } from "../../client/react/index.js";
import { HOUR } from "../../server/index.js";
import { createLimitedTRPC } from "../support/limited-trpc.js";
import { soon } from "../support/soon.js";

const LIMITS = { send: { kind: "token bucket", rate: 1, period: HOUR, capacity: 5 } } as const;

afterEach(cleanup);

function createApp() {
  const { t, rl, limiter } = createLimitedTRPC(LIMITS);
  const nonces: (string | undefined)[] = [];
  const repeated: (true | undefined)[] = [];
  const router = t.router({
    rateLimit: rl.router,
    send: t.procedure
      .input(z.object({ text: z.string(), nonce: z.string().optional() }))
      .use(rl.rateLimited("send", { once: ({ input }) => input.nonce }))
      .mutation(({ ctx, input }) => {
        nonces.push(input.nonce);
        repeated.push(ctx.rateLimit.repeated);
        return input.text;
      }),
  });
  return { router, limiter, nonces, repeated };
}

type AppRouter = ReturnType<typeof createApp>["router"];
const { RateLimitProvider, useRateLimitedMutation } = createRateLimitReact<AppRouter>();

/** An application whose server runs the calls, and drops the answers of the first few. */
async function startApp(drops: number) {
  const app = createApp();
  let dropped = 0;
  const server = createHTTPServer({
    router: app.router,
    middleware(req: IncomingMessage, res: ServerResponse, next: () => void) {
      if (req.url!.includes("/send") && dropped < drops) {
        dropped++;
        res.end = () => {
          req.socket.destroy();
          return res;
        };
      }
      next();
    },
  });
  const listening = server.listen(0, "127.0.0.1");
  await new Promise((done) => listening.once("listening", done));
  const { port } = listening.address() as AddressInfo;
  const client = createTRPCClient<AppRouter>({
    links: [httpLink({ url: `http://127.0.0.1:${port}` })],
  });
  const queryClient = new QueryClient();
  return {
    ...app,
    client,
    left: async () => (await app.limiter.getValue("send")).value,
    around: ({ children }: { children: React.ReactNode }) => (
      <QueryClientProvider client={queryClient}>
        <RateLimitProvider client={client} live="off">
          {children}
        </RateLimitProvider>
      </QueryClientProvider>
    ),
    async [Symbol.asyncDispose]() {
      queryClient.clear();
      listening.closeAllConnections();
      await new Promise((done) => listening.close(done));
    },
  };
}

describe("withOnceId", () => {
  it("sends one id with all tries of a mutation, so that a lost answer costs nothing", async () => {
    await using app = await startApp(2);
    const { result } = renderHook(
      () =>
        useRateLimitedMutation("send", {
          mutationFn: withOnceId(app.client.send.mutate, (text: string, nonce) => ({
            text,
            nonce,
          })),
          retry: 3,
          retryDelay: 1,
        }),
      { wrapper: app.around },
    );
    await act(async () => result.current.mutate("hello"));
    await soon(() => expect(result.current.data).toBe("hello"));
    expect(app.repeated).toEqual([undefined, true, true]);
    expect(new Set(app.nonces).size).toBe(1);
    expect(await app.left()).toBeCloseTo(4, 2);
    // The next mutation is another one, also with the same variables.
    await act(async () => result.current.mutate("hello"));
    await soon(() => expect(app.repeated).toEqual([undefined, true, true, undefined]));
    expect(new Set(app.nonces).size).toBe(2);
    expect(await app.left()).toBeCloseTo(3, 2);
  });

  it("is what a mutation without it lacks: each try is charged", async () => {
    await using app = await startApp(2);
    const { result } = renderHook(
      () =>
        useRateLimitedMutation("send", {
          mutationFn: (text: string) => app.client.send.mutate({ text }),
          retry: 3,
          retryDelay: 1,
        }),
      { wrapper: app.around },
    );
    await act(async () => result.current.mutate("hello"));
    await soon(() => expect(result.current.data).toBe("hello"));
    expect(await app.left()).toBeCloseTo(2, 2);
  });

  it("makes an id for each of several mutations at the same time", async () => {
    const sent: string[] = [];
    const mutationFn = withOnceId(
      async (id: string) => void sent.push(id),
      (_: void, id) => id,
    );
    const [one, other] = [{}, {}];
    await Promise.all([mutationFn(undefined, one), mutationFn(undefined, other)]);
    await mutationFn(undefined, one);
    expect(sent).toEqual([sent[0], sent[1], sent[0]]);
    expect(sent[0]).not.toBe(sent[1]);
    expect(sent[0]).toMatch(/^\d+(-\d+){3}$/);
  });
});
