/** Processes that hold tokens of visitors, and die before they settle their holds. */
import { createRandom } from "../random.js";
import type { World } from "../simulate.js";
import { isStoreFailure, type Member } from "../workloads/context.js";
import type { Pages } from "./pages.js";

/** The longest hold that is taken while faults happen, ms. */
const LONGEST = 6000;

export interface Holding {
  /** The visitor whose tokens are held. */
  visitor: string;
  count: number;
  /** When the hold lapses, ms from now. */
  for: number;
}

/**
 * Holds tokens that come back when the hold lapses. No call settles the hold: for the store, its process
 * has died.
 *
 * @returns whether the hold is certain.
 */
export function holdTokens(
  { failures, timeline }: World,
  { process, live }: Member,
  { visitor, count, for: ms }: Holding,
): Promise<boolean> {
  const once = `of a dead process, at ${timeline.events}`;
  const hold = { for: ms, then: "release" } as const;
  return new Promise((resolve) => {
    process.read(() => {
      live.limit("drafts", { key: visitor, count, once, hold }).then(
        ({ ok }) => resolve(ok),
        (error: unknown) => {
          if (!isStoreFailure(error)) throw error;
          failures.set("hold beside", error);
          resolve(false);
        },
      );
    });
  });
}

/** Makes such holds while people use their pages. These holds have a random generator of their own. */
export function holdBeside(world: World, pages: Pages): void {
  const random = createRandom(world.scenario.seed ^ 0x510e527f);
  const next = () => {
    world.timeline.plan(random.between(500, 5000), () => {
      if (!world.isOn) return;
      next();
      const { visitor } = random.pick(pages.running);
      const holding = { visitor, count: random.between(1, 3), for: random.between(300, LONGEST) };
      void holdTokens(world, random.pick(world.members.running), holding);
    });
  };
  next();
}
