import { expect, it } from "vitest";
import { hasWorkerd, NO_WORKERD, startWorker } from "./start-worker.js";

it("the entry points load in a Worker without nodejs_compat", async ({ skip }) => {
  if (!hasWorkerd) skip(NO_WORKERD);
  await using worker = await startWorker(new URL("entry-points-worker.ts", import.meta.url));
  const { process, ...counts } = (await (await worker.fetch()).json()) as Record<string, unknown>;
  expect(process).toBe("undefined");
  expect(Object.keys(counts)).toEqual(["core", "server", "trpc", "client", "react"]);
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(3);
});
