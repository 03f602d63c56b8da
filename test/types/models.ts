/** Code of limited models that must and must not compile. `tsc` checks it; it never runs. */
import { limitModel, type LimitModelAllOptions, SHARED_BUCKET } from "trpc-rate-limit/ai";
import { createRateLimiter, memoryStore, MINUTE } from "trpc-rate-limit/server";

const limits = {
  member: { kind: "token bucket", rate: 1000, period: MINUTE },
  team: { kind: "token bucket", period: MINUTE, plans: { free: 10, pro: 1000 } },
  calls: { kind: "token bucket", rate: 10, period: MINUTE },
  credits: { kind: "credits" },
  answers: { kind: "concurrency", slots: 2 },
  jobs: { kind: "concurrency", plans: { free: 1, pro: 2 } },
} as const;
const limiter = createRateLimiter({ store: memoryStore(), plans: ["free", "pro"], limits });

limitModel(limiter, { name: "member", key: "ada", slots: { name: "answers", key: "ada" } });
limitModel(limiter, {
  limits: [
    { name: "member", key: ({ params }) => String(params.providerOptions?.["app"]?.["user"]) },
    { name: "team", key: "ocean", plan: () => "pro" },
    { name: "calls", key: SHARED_BUCKET, of: "requests" },
    { first: ["team", { name: "credits", key: "bank" }], key: "ocean", plan: "free", split: true },
  ],
  provider: { name: "member", key: "provider" },
  slots: { name: "jobs", key: async () => "ada", plan: "free", maxWait: MINUTE },
  estimate: () => 100,
  hold: { for: MINUTE, then: "keep" },
});
/** Budgets that are put together elsewhere. */
const budgets: LimitModelAllOptions<typeof limits>["limits"] = [{ name: "member", key: "ada" }];
limitModel(limiter, { limits: budgets });

// @ts-expect-error neither a name nor limits
limitModel(limiter, { key: "ada" });
// @ts-expect-error both
limitModel(limiter, { name: "member", key: "ada", limits: budgets });
// @ts-expect-error each limit has its own key
limitModel(limiter, { limits: budgets, key: "ada" });
// @ts-expect-error no such limit
limitModel(limiter, { limits: [{ name: "membr", key: "ada" }] });
// @ts-expect-error no key
limitModel(limiter, { limits: [{ name: "member" }] });
// @ts-expect-error a user who is not logged in has no key
limitModel(limiter, { limits: [{ name: "member", key: undefined }] });
// @ts-expect-error no such option
limitModel(limiter, { limits: [{ name: "member", key: "ada", kee: "ada" }] });
// @ts-expect-error no such plan
limitModel(limiter, { limits: [{ name: "team", key: "ocean", plan: "por" }] });
// @ts-expect-error no such plan
limitModel(limiter, { limits: [{ name: "team", key: "ocean", plan: () => "por" }] });
// @ts-expect-error what a limit counts
limitModel(limiter, { limits: [{ name: "calls", key: "ada", of: "words" }] });
// @ts-expect-error slots are held, and not counted
limitModel(limiter, { limits: [{ name: "answers", key: "ada" }] });
// @ts-expect-error no such limit
limitModel(limiter, { limits: [{ first: ["team", "credit"], key: "ocean" }] });
// @ts-expect-error slots do not pay
limitModel(limiter, { limits: [{ first: ["team", "answers"], key: "ocean" }] });
// @ts-expect-error no such plan
limitModel(limiter, { limits: [{ first: ["team", "credits"], key: "ocean", plan: "por" }] });
// @ts-expect-error no limit in a first counts requests
limitModel(limiter, { limits: [{ first: ["member"], key: "ada", of: "requests" }] });
// @ts-expect-error tokens are counted, and not held as a slot
limitModel(limiter, { name: "member", key: "ada", slots: { name: "member", key: "ada" } });
// @ts-expect-error no key
limitModel(limiter, { name: "member", key: "ada", slots: { name: "answers" } });
// @ts-expect-error no such plan
limitModel(limiter, { limits: budgets, slots: { name: "jobs", key: "ada", plan: "por" } });
