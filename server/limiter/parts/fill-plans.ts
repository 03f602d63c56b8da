/**
 * Fills in the plan of a call that does not say its plan, by the `plan` function of the limiter. The
 * function here wraps the operations, which then see the plan among their options. For a call that says
 * its plan, the function is not asked.
 */
import type { WhenKnown } from "../verbs/when-known.js";
import type { AskedPlans } from "../limits/plans/asked-plans.js";
import type { PlanTable } from "../limits/plans/plan-table.js";

/** The options that a call and the items of a list have in common. */
interface Item {
  name?: string;
  key?: string | undefined;
  plan?: string | undefined;
  config?: unknown;
  /** Several limits of which the first pays, in the place of a name. */
  first?: List | undefined;
}

type List = readonly (string | Item)[];
type Later<TValue> = TValue | Promise<TValue>;

/** @param next the wrapper that comes after this one. */
export function fillingPlans(asked: AskedPlans, plans: PlanTable, next: WhenKnown): WhenKnown {
  return (operation, paidBy) => {
    const then = next(operation, paidBy);
    return (...args) => {
      const filled = filledArgs(args);
      if (!(filled instanceof Promise)) return then(...(filled as typeof args));
      return filled.then((all) => then(...(all as typeof args)));
    };
  };

  /**
   * The arguments of an operation, with plans. For one limit: its name and its options. For several
   * limits: a list, and options that the items share.
   */
  function filledArgs(args: readonly unknown[]): Later<readonly unknown[]> {
    const [of, options, ...others] = args as [unknown, Item | undefined, ...unknown[]];
    if (typeof of === "string") {
      const filled = filledOptions(of, options);
      return afterwards(filled, (all) => (all === options ? args : [of, all, ...others]));
    }
    if (!Array.isArray(of)) return args;
    const shared = typeof options === "object" && options !== null ? options : {};
    const filled = filledList(of as List, shared);
    return afterwards(filled, (all) => (all === of ? args : [all, ...args.slice(1)]));
  }

  /** The same list, if there is no plan to fill in. */
  function filledList(list: List, shared: Item): Later<List> {
    const filled = list.map((item) => filledItem(item, shared));
    if (filled.every((item, i) => item === list[i])) return list;
    if (!filled.some((item) => item instanceof Promise)) return filled as List;
    return Promise.all(filled.map(async (item) => item));
  }

  function filledItem(item: string | Item, shared: Item): Later<string | Item> {
    if (typeof item === "object" && Array.isArray(item?.first)) {
      const { first } = item;
      return afterwards(filledList(first, item), (all) =>
        all === first ? item : { ...item, first: all },
      );
    }
    const name = typeof item === "string" ? item : item?.name;
    if (name === undefined || !plans.has(name) || shared.plan !== undefined) return item;
    const own: Item = typeof item === "string" ? { name } : item;
    if (own.plan !== undefined || own.config !== undefined) return item;
    const key = "key" in own ? own.key : shared.key;
    return afterwards(asked.of(name, key), (plan) => ({ ...own, plan }));
  }

  function filledOptions(name: string, options: Item | undefined): Later<Item | undefined> {
    const { key, plan, config, with: items } = { ...options } as Item & { with?: unknown };
    let filled: Later<Item | undefined> = options;
    if (plans.has(name) && plan === undefined && config === undefined) {
      filled = afterwards(asked.of(name, key), (own) => ({ ...options, plan: own }));
    }
    if (!Array.isArray(items)) return filled;
    // The tokens that are taken together with a slot.
    return afterwards(filled, (own) =>
      afterwards(filledArgs([items]), ([all]) => (all === items ? own : { ...own, with: all })),
    );
  }
}

/** Calls `then` at once where the value is no promise. */
function afterwards<TValue, TResult>(
  value: Later<TValue>,
  then: (value: TValue) => Later<TResult>,
): Later<TResult> {
  return value instanceof Promise ? value.then(then) : then(value);
}
