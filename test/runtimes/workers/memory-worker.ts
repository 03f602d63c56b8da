/** A worker with limits in memory. */
import { createRateLimiter, memoryStore, MINUTE } from "../../../server/index.js";

export default {
  async fetch(): Promise<Response> {
    const limiter = createRateLimiter({
      store: memoryStore(),
      limits: { send: { kind: "token bucket", rate: 37, period: MINUTE } },
    });
    const calls = Array.from({ length: 60 }, () => limiter.limit("send", { key: "ada" }));
    const granted = (await Promise.all(calls)).filter(({ ok }) => ok).length;
    return Response.json({ granted });
  },
};
