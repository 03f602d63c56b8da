/** The router's inputs. Unknown fields are errors. */
import { z } from "zod/v4";
import { validateKey } from "../../core/validate-key.js";
import { MAX_STREAM_ID, MAX_WATCHED } from "../live/live-inputs.js";

/** A key that a client asks for; see `validateKey`. */
export const keySchema = z.string().superRefine((key, context) => {
  try {
    validateKey(key);
  } catch (error) {
    context.addIssue({ code: "custom", message: (error as Error).message });
  }
});

/** A number of tokens: finite and at least 0. */
const countSchema = z.number().min(0);

/** The schemas for a limiter with these names. */
export function createRateLimitSchemas<const TName extends string>(names: readonly TName[]) {
  const name = z.enum(names);
  const item = z.strictObject({ name, key: keySchema.optional() });
  const query = item.extend({ count: countSchema.optional() });
  return {
    /** `status` and `check` */
    query,
    /** `limit` */
    limit: query.extend({ reserve: z.boolean().optional() }),
    /** `reset` */
    reset: item,
    /** `watch` */
    watch: z.strictObject({
      items: z.array(item).min(1).max(MAX_WATCHED),
      stream: z.string().min(1).max(MAX_STREAM_ID).optional(),
    }),
  };
}
