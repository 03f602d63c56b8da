import { createRequire } from "node:module";
import * as esm from "@trpc/client";
import type { AnyTRPCRouter } from "@trpc/server";
import { observable } from "@trpc/server/observable";
import { expect, it } from "vitest";
import { isRateLimitError } from "../../core/errors.js";
import { rateLimitLink } from "../../client/rate-limit-link.js";

/** The other copy of the client, which CommonJS code gets. */
const commonJs = createRequire(import.meta.url)("@trpc/client") as typeof esm;

const config = { kind: "token bucket", rate: 1, period: 60_000 } as const;
const rateLimit = { kind: "RateLimited", name: "few", retryAfter: 60_000, config, now: 0 };
const error = { code: -32029, message: "denied", data: { code: "TOO_MANY_REQUESTS", rateLimit } };

it.each([
  { format: "ES modules", trpc: esm },
  { format: "CommonJS", trpc: commonJs },
])("keeps the facts of a denial for a client of $format", async ({ trpc }) => {
  let sent = 0;
  const denying: esm.TRPCLink<AnyTRPCRouter> = () => () =>
    observable((observer) => {
      sent++;
      observer.error(trpc.TRPCClientError.from({ error }));
    });
  const client = trpc.getUntypedClient(
    trpc.createTRPCClient<AnyTRPCRouter>({
      links: [rateLimitLink({ limits: { send: "few" }, whenLimited: "reject" }), denying],
    }),
  );
  const denials: unknown[] = [];
  for (let i = 0; i < 2; i++) await client.mutation("send").catch((e: unknown) => denials.push(e));
  expect(sent).toBe(1);
  for (const denial of denials) {
    expect(denial).toBeInstanceOf(trpc.TRPCClientError);
    expect(isRateLimitError(denial)).toBe(true);
  }
});
