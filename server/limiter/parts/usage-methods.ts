/** `usage`, `topUsage`, `usageChanges` and `flushUsage` of a limiter. */
import type { Context } from "../context/context.js";
import type { WhenKnown } from "../verbs/when-known.js";
import type { TopUsageOptions, UsageOptions } from "../types/usage.js";
import type { UsageChangePage, UsageChangesOptions } from "../types/usage-changes.js";
import type { OpenUsage } from "../usage/open-usage.js";
import { readUsage } from "../verbs/read-usage.js";
import { topUsage, type TopUsageParts } from "../verbs/top-usage.js";
import { usageChanges } from "../verbs/usage-changes.js";
import type { Settings } from "./checked-options.js";

/** @param knowing see `WhenKnown`. */
export function usageMethods(
  {
    store,
    configs,
    clock,
    boundSums,
  }: Pick<Settings, "store" | "configs" | "clock"> & Pick<TopUsageParts, "boundSums">,
  context: Context,
  usage: OpenUsage,
  knowing: WhenKnown,
) {
  const { apply, list } = context;
  return {
    flushUsage: () => usage.flush(),
    usage: knowing(async (name: string, options: UsageOptions) => {
      await usage.flush();
      return readUsage(context, name, options);
    }),
    topUsage: knowing(async (name: string, options: TopUsageOptions) => {
      await usage.flush();
      return topUsage({ ...context, store, boundSums }, name, options);
    }),
    async usageChanges<TName extends string>(options?: UsageChangesOptions) {
      await usage.flush();
      const page = await usageChanges({ apply, list, store, configs, clock }, options);
      return page as UsageChangePage<TName>;
    },
  };
}
