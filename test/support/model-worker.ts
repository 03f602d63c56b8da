/**
 * A process that asks a provider for answers until its own limit denies a call. The process knows the
 * provider's quota only from the header fields of the answers.
 *
 * Arguments: the kind of store, its URL, the URL of the provider, the most calls, and whether it listens
 * to the provider. Prints the results of its calls.
 */
import { limitModel } from "../../server/ai/index.js";
import { createRateLimiter, isRateLimitError } from "../../server/index.js";
import { AT_A_TIME, ESTIMATE, MODEL_LIMITS } from "./model-limits.js";
import { openStore, type StoreKind } from "./open-store.js";

const [kind, url, provider, most, listens] = process.argv.slice(2) as [StoreKind, ...string[]];
const { store, close } = openStore(kind, url!, { connections: 2 });
const limiter = createRateLimiter({ store, limits: MODEL_LIMITS, timeout: 30_000 });
const middleware = limitModel(limiter, {
  name: "user",
  key: String(process.pid),
  estimate: () => ESTIMATE,
  provider: listens === "listens" ? { name: "provider" } : [],
});
const counts = { granted: 0, refused: 0, denied: 0 };
let rest = Number(most);

/** Does what a provider's package does: a refusal becomes an error with its status and header fields. */
async function doGenerate() {
  const answer = await fetch(provider!);
  const headers = Object.fromEntries(answer.headers);
  if (!answer.ok) {
    throw Object.assign(new Error("refused"), {
      statusCode: answer.status,
      responseHeaders: headers,
    });
  }
  const usage = (await answer.json()) as { inputTokens: number; outputTokens: number };
  return { usage, response: { headers } };
}

async function askOneByOne(): Promise<void> {
  const call = {
    params: { prompt: [] },
    model: { provider: "test", modelId: "model" },
    doGenerate,
  };
  while (rest-- > 0) {
    try {
      await middleware.wrapGenerate(call);
      counts.granted++;
    } catch (error) {
      if ((error as Error).message === "refused") counts.refused++;
      else if (!isRateLimitError(error)) throw error;
      else {
        counts.denied++;
        return;
      }
    }
  }
}

await store.apply([]);
process.stdout.write("ready\n");
await new Promise((begin) => process.stdin.once("data", begin));
await Promise.all(Array.from({ length: AT_A_TIME }, askOneByOne));
process.stdout.write(`${JSON.stringify(counts)}\n`);
await close();
process.exit(0);
