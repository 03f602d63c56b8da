/** Finds the fields of a Prisma schema that may hold the plan of a user. */
import type { Block } from "./prisma-schema.js";

/** A field with a plan, and how to find the row of a user. */
export interface UserPlan {
  file: string;
  /** The model of Prisma, or the constant of a table of Drizzle. */
  model: string;
  field: string;
  /** All values of an enum; `undefined` where the schema does not have the values. */
  values: readonly string[] | undefined;
  /** The value of a new row. */
  usual: string | undefined;
  isText: boolean;
  id: { field: string; kind: IdKind };
}

export type IdKind = "text" | "number" | "bigint";

/** The models that may pay, the preferred first: the keys that `init` writes have the id of a user. */
const PAYERS = [
  "user",
  "account",
  "customer",
  "profile",
  "team",
  "organization",
  "organisation",
  "workspace",
  "tenant",
];

/** The place of a model in `PAYERS`, from 0; -1 for other models. */
export const payerRank = (model: string): number =>
  PAYERS.indexOf(model.toLowerCase().replace(/s$/, ""));

/**
 * Matches the name of a field with a plan. `stripeSubscriptionId` does not match: it is the id of a
 * payment.
 */
const FIELD =
  /^(?:(?:account|billing|current|pricing|subscription)_?)?(?:plan|subscription|tier)(?:_?(?:id|key|level|name|plan|slug|tier|type))?$/i;

export const isPlanField = (name: string): boolean => FIELD.test(name);

/** Matches the name of a field, its type, `[]` or `?`, and its attributes. */
const LINE = /^\s*(\w+)\s+(\w+)(\[\])?\??(.*)$/gm;

const ID_KINDS: Record<string, IdKind> = { String: "text", Int: "number", BigInt: "bigint" };

export function findPrismaUserPlans(blocks: readonly Block[]): UserPlan[] {
  const models = blocks.filter(
    ({ keyword, name }) => keyword === "model" && payerRank(name) !== -1,
  );
  return models.flatMap(({ name: model, file, body }) => {
    const lines = [...body.matchAll(LINE)];
    const key = lines.find(([, , , , attributes]) => /(?<!@)@id\b/.test(attributes!));
    const kind = ID_KINDS[key?.[2] ?? ""];
    // A row with a key of several fields cannot be found by the key of a limit.
    if (key === undefined || kind === undefined) return [];
    const id = { field: key[1]!, kind };
    return lines.flatMap(([, field, type, list, attributes]): UserPlan[] => {
      if (!isPlanField(field!) || list !== undefined) return [];
      const values = valuesOf(blocks, type!);
      const usual = /@default\((\w+)\)/.exec(attributes!)?.[1];
      return [{ file, model, field: field!, values, usual, isText: type === "String", id }];
    });
  });
}

function valuesOf(blocks: readonly Block[], type: string): string[] | undefined {
  const found = blocks.find(({ keyword, name }) => keyword === "enum" && name === type);
  return found && [...found.body.matchAll(/^\s*(\w+)/gm)].map(([, value]) => value!);
}
