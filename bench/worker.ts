/** One of the processes that call: holds every contender of a scenario, and runs slices of load. */
import { type Contender, contenders } from "./contenders.js";

export type Order =
  | { type: "open"; contenders: readonly string[]; tokens: number }
  | { type: "run"; contenders: readonly string[]; keys: number; waiting: number; duration: number }
  | { type: "close" };

/** What came of one contender in one slice. */
export interface Slice {
  calls: number;
  granted: number;
  failed: number;
  /** The time that its calls were under way, ms, were they made one after the other. */
  busy: number;
  /** ms; thinned out to about 2,000. */
  latencies: number[];
}

const subjects = new Map<string, Contender>();

async function run(order: Order & { type: "run" }): Promise<Slice[]> {
  const { keys, waiting, duration } = order;
  const slices = order.contenders.map((): Slice => {
    return { calls: 0, granted: 0, failed: 0, busy: 0, latencies: [] };
  });
  const takers = order.contenders.map((name) => subjects.get(name)!);
  const end = performance.now() + duration;
  const caller = async () => {
    for (let turn = 0; performance.now() < end; turn++) {
      const at = turn % takers.length;
      const key = `key ${keys === 1 ? 0 : Math.floor(Math.random() * keys)}`;
      const slice = slices[at]!;
      const start = performance.now();
      try {
        if (await takers[at]!.take(key)) slice.granted++;
      } catch {
        slice.failed++;
      }
      slice.latencies.push(performance.now() - start);
      slice.calls++;
    }
  };
  await Promise.all(Array.from({ length: waiting }, caller));
  for (const slice of slices) {
    slice.busy = slice.latencies.reduce((sum, latency) => sum + latency, 0) / waiting;
    const step = Math.ceil(slice.latencies.length / 2000);
    slice.latencies = slice.latencies.filter((_, i) => i % step === 0);
  }
  return slices;
}

async function obey(order: Order): Promise<Slice[]> {
  if (order.type === "run") return run(order);
  if (order.type === "open") {
    for (const name of order.contenders) {
      subjects.set(name, await contenders[name]!(order.tokens));
    }
    return [];
  }
  await Promise.all([...subjects.values()].map((subject) => subject.close()));
  return [];
}

process.on("message", (order: Order) => {
  void obey(order).then((slices) => {
    process.send?.(slices, () => order.type === "close" && process.disconnect());
  });
});
