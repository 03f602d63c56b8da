/** Runs one contender in one scenario in this process, and says what came of it. */
import { type Contender, contenders } from "./contenders.js";

export interface Load {
  contender: string;
  tokens: number;
  keys: number;
  /** Callers, each of which waits for its answer before it calls again. */
  waiting: number;
  /** ms */
  duration: number;
}

export interface Measured {
  calls: number;
  granted: number;
  failed: number;
  /** ms, sorted; thinned out to at most 10,000. */
  latencies: number[];
}

export async function measure({
  contender,
  tokens,
  keys,
  waiting,
  duration,
}: Load): Promise<Measured> {
  const subject = await contenders[contender]!(tokens);
  await callers(subject, keys, waiting, duration / 4, false);
  const measured = await callers(subject, keys, waiting, duration, true);
  await subject.close();
  return measured;
}

let warmedUp = 0;

async function callers(
  subject: Contender,
  keys: number,
  waiting: number,
  duration: number,
  counted: boolean,
): Promise<Measured> {
  let [calls, granted, failed] = [0, counted ? warmedUp : 0, 0];
  const latencies: number[] = [];
  const end = performance.now() + duration;
  await Promise.all(
    Array.from({ length: waiting }, async () => {
      while (performance.now() < end) {
        const key = `key ${keys === 1 ? 0 : Math.floor(Math.random() * keys)}`;
        const start = performance.now();
        try {
          if (await subject.take(key)) granted++;
        } catch {
          failed++;
        }
        latencies.push(performance.now() - start);
        calls++;
      }
    }),
  );
  // Grants of the warm-up are in the rows too.
  warmedUp = counted ? 0 : granted;
  latencies.sort((a, b) => a - b);
  const step = Math.max(1, Math.ceil(latencies.length / 10_000));
  return { calls, granted, failed, latencies: latencies.filter((_, i) => i % step === 0) };
}

if (process.send !== undefined) {
  process.once("message", (load: Load) => {
    void measure(load).then((measured) => process.send?.(measured, () => process.disconnect?.()));
  });
}
