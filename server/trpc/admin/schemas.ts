/**
 * The inputs of the admin router. Unknown fields are errors. A name is any text here: an enum of the
 * limits would tell their names to a caller who may not know them.
 */
import { z } from "zod/v4";
import { DAY } from "../../../core/durations.js";
import { OVERRIDE_KINDS } from "../../../core/override-kinds.js";
import { keySchema } from "../schemas.js";

/** The longest ban, ms. */
const LONGEST = 3650 * DAY;
/**
 * The largest factor of a raise. A larger factor is a mistake: a limit that is never reached is an
 * exemption.
 */
const MOST_TIMES = 1e6;
/** The most tokens of a top-up. */
const MOST_ADDED = 1e15;
/** The longest reason, in characters: it has to fit into a row of the log. */
const MOST_WHY = 200;
/** Items of one answer. */
const MOST_ITEMS = 200;
export const DEFAULT_ITEMS = 100;
/** The longest cursor, in characters: the longest key, with each character escaped. */
const LONGEST_CURSOR = 2000;

const count = z.int().min(1).max(MOST_ITEMS).optional();
const instant = z.int().min(0);
const stored = z.boolean().optional();
const why = z.string().trim().max(MOST_WHY).optional();

/**
 * Whether the target is one key, or explicitly all keys. A key that is missing by mistake must not mean
 * all keys.
 */
function isOne({ key, all = false }: { key?: string | undefined; all?: boolean | undefined }) {
  return (key === undefined) === all;
}

const ONE_END = { error: "give for or until, not both" };

const TARGET = { error: "give a key, or all: true in place of it for all keys" };

export function createAdminSchemas<TName extends string>() {
  // The router looks the name up afterwards.
  const name = z.string().max(191) as unknown as z.ZodType<TName, TName>;
  const target = z.strictObject({
    name,
    key: keySchema.optional(),
    stored,
    all: z.boolean().optional(),
    why,
  });
  const timed = target.extend({
    for: z.int().min(1).max(LONGEST).optional(),
    until: instant.optional(),
  });
  const timing = <TShape extends z.ZodObject>(shape: TShape) =>
    shape.refine(isOne, TARGET).refine((given: { for?: unknown; until?: unknown }) => {
      return given.for === undefined || given.until === undefined;
    }, ONE_END);
  return {
    list: z.strictObject({
      name,
      denied: z.boolean().optional(),
      after: z.string().max(LONGEST_CURSOR).optional(),
      count,
    }),
    key: z
      .strictObject({ key: keySchema.optional(), stored, near: z.boolean().optional() })
      .optional(),
    usage: z.strictObject({ name, from: instant, to: instant, every: z.int().min(1).optional() }),
    denials: z.strictObject({ name: name.optional(), count }).optional(),
    top: z.strictObject({
      name: name.optional(),
      from: instant,
      to: instant,
      by: z.enum(["denied", "taken"]),
      count,
    }),
    target: target.refine(isOne, TARGET),
    clear: target.extend({ only: z.enum(OVERRIDE_KINDS).optional() }).refine(isOne, TARGET),
    timed: timing(timed),
    plan: timing(timed.extend({ name: name.optional(), plan: z.string().max(191) })),
    raise: timing(timed.extend({ times: z.number().gt(0).max(MOST_TIMES) })),
    give: timing(timed.extend({ add: z.number().gt(0).max(MOST_ADDED) })),
    overrides: z.strictObject({ name: name.optional(), count }).optional(),
    changes: z
      .strictObject({
        name: name.optional(),
        key: keySchema.optional(),
        stored,
        before: instant.optional(),
        count,
      })
      .optional(),
    undo: z.strictObject({ id: z.string().max(40), why }),
  };
}
