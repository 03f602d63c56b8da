/** Sends requests to a worker at the same time, as its users do. */
import type { StartedWorker } from "./start-worker.js";

/** The number of requests for each answer. An answer that is not JSON is an error of the worker. */
export async function requestAtOnce(
  worker: StartedWorker,
  path: string,
  requests = 60,
): Promise<Record<string, number>> {
  const answers = Array.from({ length: requests }, async () => {
    const response = await worker.fetch(path);
    return response.ok ? response.text() : `${response.status} ${await response.text()}`;
  });
  const counts: Record<string, number> = {};
  for (const answer of await Promise.all(answers)) counts[answer] = (counts[answer] ?? 0) + 1;
  return counts;
}
