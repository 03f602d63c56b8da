/** The kinds of overrides, for the limiter, for its router and for the control room. */

/** By the option that says the rule. The first three say what a key may, the last two answer all calls. */
export const OVERRIDE_KINDS = ["plan", "config", "times", "add", "unlimited", "blocked"] as const;

type OverrideKind = (typeof OVERRIDE_KINDS)[number];

/** The kind of a rule, which has exactly one. */
export function kindOf(rule: { readonly [TKind in OverrideKind]?: unknown }): OverrideKind {
  return OVERRIDE_KINDS.find((kind) => rule[kind] !== undefined)!;
}

/** The kind of override that an action of an operator sets; `undefined` for `clear`, `reset` and `undo`. */
export function kindSetBy(action: string): OverrideKind | undefined {
  return SETS[action];
}

const SETS: Readonly<Record<string, OverrideKind>> = {
  ban: "blocked",
  exempt: "unlimited",
  raise: "times",
  give: "add",
  plan: "plan",
};
