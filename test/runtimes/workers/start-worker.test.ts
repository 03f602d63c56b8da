import { expect, it } from "vitest";
import { hasWorkerd, NO_WORKERD, startWorker } from "./start-worker.js";

it("a worker decides in memory", async ({ skip }) => {
  if (!hasWorkerd) skip(NO_WORKERD);
  await using worker = await startWorker(new URL("memory-worker.ts", import.meta.url));
  const response = await worker.fetch();
  expect(await response.json()).toEqual({ granted: 37 });
});
