/** One of the processes that call: holds every contender of a scenario, and runs slices of load. */
import { type Contender, contenders } from "./contenders.js";
import { keyAt } from "./keys.js";

export type Order =
  | { type: "open"; contenders: readonly string[]; tokens: number; url: string }
  | { type: "run"; contenders: readonly string[]; keys: number; waiting: number; duration: number }
  | { type: "close" };

/** What came of one contender in one slice. */
export interface Slice {
  calls: number;
  granted: number;
  failed: number;
  /** How long its calls were under way, ms. */
  busy: number;
  /** CPU of this process in that time, of all contenders that it ran, µs. */
  cpu: number;
  /** ms; thinned out to about 2,000. */
  latencies: number[];
}

/** Of how many calls one is timed. */
const SAMPLED = 16;

const subjects = new Map<string, Contender>();

async function run(order: Order & { type: "run" }): Promise<Slice[]> {
  const { keys, waiting, duration } = order;
  const slices = order.contenders.map((): Slice => {
    return { calls: 0, granted: 0, failed: 0, busy: 0, cpu: 0, latencies: [] };
  });
  const takers = order.contenders.map((name) => subjects.get(name)!);
  // With many waiting, a clock read twice per call would be a good part of what is measured.
  const every = waiting === 1 ? 1 : SAMPLED;
  let over = false;
  setTimeout(() => (over = true), duration);
  const start = performance.now();
  const cpuBefore = process.cpuUsage();
  const caller = async () => {
    for (let turn = 0; !over; turn++) {
      // SQLite answers without ever leaving the thread to anything else, such as a timer.
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
