/**
 * Finds the smallest scenario in which a failure occurs: fewer processes and pages, fewer kinds of
 * faults, less time.
 */
import { FAULTS } from "./faults.js";
import { type Cut, scenarioOf } from "./scenario.js";
import { type Report, simulate } from "./simulate.js";
import type { StartShipped } from "./shipped.js";

export async function shrink(
  start: StartShipped,
  failed: Report,
): Promise<{ cut: Cut; report: Report }> {
  const { seed } = failed.scenario;
  let cut: Cut = { database: failed.scenario.database };
  let report = failed;

  async function attempt(next: Cut): Promise<boolean> {
    const tried = await simulate(start, seed, next);
    if (tried.problems.length === 0) return false;
    cut = next;
    report = tried;
    return true;
  }

  const { faults, callers, pages } = scenarioOf(seed);
  const plans = [faults, ...(pages.count > 0 ? [pages.faults] : [])];
  if (pages.count > 0) await attempt({ ...cut, pages: 0 });
  for (const fault of FAULTS) {
    if (plans.some(({ perStatement, every }) => fault in perStatement || fault in every)) {
      await attempt({ ...cut, without: [...(cut.without ?? []), fault] });
    }
  }
  for (const workload of Object.keys(callers)) {
    if (callers[workload as keyof typeof callers] > 0) {
      await attempt({ ...cut, without: [...(cut.without ?? []), workload] });
    }
  }
  for (let count = cut.pages ?? pages.count; count > 1; count--) {
    if (!(await attempt({ ...cut, pages: count - 1 }))) break;
  }
  for (let { processes } = scenarioOf(seed); processes > 1; processes--) {
    if (!(await attempt({ ...cut, processes: processes - 1 }))) break;
  }
  for (let { duration } = scenarioOf(seed); duration > 50; duration = Math.floor(duration / 2)) {
    if (!(await attempt({ ...cut, duration: Math.floor(duration / 2) }))) break;
  }
  return { cut, report };
}

/** The arguments that replay the failure. */
export function argumentsOf(
  seed: number,
  { database, processes, pages, duration, without = [] }: Cut,
): string {
  return [
    `--seed ${seed}`,
    ...(database === undefined ? [] : [`--database ${database}`]),
    ...(processes === undefined ? [] : [`--processes ${processes}`]),
    ...(pages === undefined ? [] : [`--pages ${pages}`]),
    ...(duration === undefined ? [] : [`--duration ${duration}`]),
    ...without.map((name) => `--without "${name}"`),
  ].join(" ");
}
