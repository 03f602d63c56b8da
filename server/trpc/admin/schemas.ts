/**
 * The inputs of the admin router. Unknown fields are errors. A name is any text here: an enum of the
 * limits would tell their names to a caller who may not know them.
 */
import { z } from "zod/v4";
import { DAY } from "../../../core/durations.js";
import { keySchema } from "../schemas.js";

/** The longest ban, ms. */
const LONGEST = 3650 * DAY;
/**
 * The largest factor of a raise. A larger factor is a mistake: a limit that is never reached is an
 * exemption.
 */
const MOST_TIMES = 1e6;
/** Items of one answer. */
const MOST_ITEMS = 200;
export const DEFAULT_ITEMS = 100;
/** The longest cursor, in characters: the longest key, with each character escaped. */
const LONGEST_CURSOR = 2000;

const count = z.int().min(1).max(MOST_ITEMS).optional();
const instant = z.int().min(0);
const stored = z.boolean().optional();

/**
 * Whether the target is one key, or explicitly all keys. A key that is missing by mistake must not mean
 * all keys.
 */
function isOne({ key, all = false }: { key?: string | undefined; all?: boolean | undefined }) {
  return (key === undefined) === all;
}

const TARGET = { error: "give a key, or all: true in place of it for all keys" };

export function createAdminSchemas<TName extends string>() {
  // The router looks the name up afterwards.
  const name = z.string().max(191) as unknown as z.ZodType<TName, TName>;
  const target = z.strictObject({
    name,
    key: keySchema.optional(),
    stored,
    all: z.boolean().optional(),
  });
  const timed = target.extend({ for: z.int().min(1).max(LONGEST).optional() });
  return {
    list: z.strictObject({
      name,
      denied: z.boolean().optional(),
      after: z.string().max(LONGEST_CURSOR).optional(),
      count,
    }),
    key: z.strictObject({ key: keySchema.optional(), stored }).optional(),
    usage: z.strictObject({ name, from: instant, to: instant, every: z.int().min(1).optional() }),
    denials: z.strictObject({ name: name.optional(), count }).optional(),
    target: target.refine(isOne, TARGET),
    timed: timed.refine(isOne, TARGET),
    plan: timed.extend({ name: name.optional(), plan: z.string().max(191) }).refine(isOne, TARGET),
    raise: timed.extend({ times: z.number().gt(0).max(MOST_TIMES) }).refine(isOne, TARGET),
  };
}
