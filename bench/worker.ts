/** A process that calls: holds contenders of a scenario, and runs slices of load. */
import { type Contender, contenders } from "./contenders.js";
import { keyAt } from "./keys.js";

export type Order =
  | { type: "open"; contenders: readonly string[]; tokens: number; url: string }
  | { type: "run"; contenders: readonly string[]; keys: number; waiting: number; duration: number }
  | { type: "close" };

/** The result of one contender in one slice. */
export interface Slice {
  calls: number;
  granted: number;
  failed: number;
  /** How long the contender's calls were under way, ms. */
  busy: number;
  /** CPU of this process in the slice, for all contenders that it ran, µs. */
  cpu: number;
  /** The latencies, ms; thinned out to about 2,000. */
  latencies: number[];
}

/** One call of this many is timed. */
const SAMPLED = 16;

const subjects = new Map<string, Contender>();

async function run(order: Order & { type: "run" }): Promise<Slice[]> {
  const { keys, waiting, duration } = order;
  const slices = order.contenders.map((): Slice => {
    return { calls: 0, granted: 0, failed: 0, busy: 0, cpu: 0, latencies: [] };
  });
  const takers = order.contenders.map((name) => subjects.get(name)!);
  // With many waiting callers, reading the clock twice per call would be a good part of the measured
  // time.
  const every = waiting === 1 ? 1 : SAMPLED;
  let over = false;
  setTimeout(() => (over = true), duration);
  const start = performance.now();
  const cpuBefore = process.cpuUsage();
  const caller = async () => {
    for (let turn = 0; !over; turn++) {
      // SQLite answers without ever yielding the thread, for example to a timer.
      if (turn % SAMPLED === 0) over ||= performance.now() - start > duration;
      const at = turn % takers.length;
      const slice = slices[at]!;
      const key = keyAt(keys === 1 ? 0 : Math.floor(Math.random() * keys));
      const sent = turn % every === 0 ? performance.now() : undefined;
      try {
        if (await takers[at]!.take(key)) slice.granted++;
      } catch {
        slice.failed++;
      }
      slice.calls++;
      if (sent !== undefined) slice.latencies.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: waiting }, caller));
  const elapsed = performance.now() - start;
  const { user, system } = process.cpuUsage(cpuBefore);
  for (const slice of slices) {
    slice.cpu = user + system;
    slice.busy = waiting > 1 ? elapsed : slice.latencies.reduce((sum, each) => sum + each, 0);
    const step = Math.ceil(slice.latencies.length / 2000);
    slice.latencies = slice.latencies.filter((_, i) => i % step === 0);
  }
  return slices;
}

async function obey(order: Order): Promise<Slice[]> {
  if (order.type === "run") return run(order);
  if (order.type === "open") {
    for (const name of order.contenders) {
      subjects.set(name, await contenders[name]!.open(order.tokens, order.url));
    }
    return [];
  }
  await Promise.all([...subjects.values()].map((subject) => subject.close()));
  return [];
}

process.on("message", (order: Order) => {
  void obey(order).then((slices) => {
    process.send!(slices, () => order.type === "close" && process.disconnect?.());
  });
});
