/** The procedures of `rl.admin`, called through the application's tRPC client. */
import type { OverrideKind } from "../../server/limiter/types/override-types.js";
import { type TRPCClientLike, untypedOf } from "../trpc-clients.js";
import type {
  AdminVerb,
  AdminChange,
  AdminChanges,
  AdminDenials,
  AdminKey,
  AdminLimits,
  AdminOverrides,
  AdminPage,
  AdminPlanChange,
  AdminTop,
  AdminTopInput,
  AdminUsage,
  KeyInput,
} from "./admin-types.js";

export interface AdminClient {
  limits(signal: AbortSignal): Promise<AdminLimits>;
  list(
    input: { name: string; denied: boolean; after?: string; count: number },
    signal: AbortSignal,
  ): Promise<AdminPage>;
  key(input: KeyInput, signal: AbortSignal): Promise<AdminKey>;
  usage(
    input: { name: string; from: number; to: number; every: number },
    signal: AbortSignal,
  ): Promise<AdminUsage>;
  denials(input: { name?: string; count: number }, signal: AbortSignal): Promise<AdminDenials>;
  top(input: AdminTopInput, signal: AbortSignal): Promise<AdminTop>;
  overrides(input: { name?: string; count: number }, signal: AbortSignal): Promise<AdminOverrides>;
  changes(input: ChangesInput, signal: AbortSignal): Promise<AdminChanges>;
  /** Resolves with the limit that has changed back. */
  undo(id: string): Promise<NamedChange>;
  /** Resolves with each limit that the action has changed. */
  change(action: AdminVerb, input: ChangeInput): Promise<readonly NamedChange[]>;
}

/** The change of one limit by an action. */
export type NamedChange = AdminPlanChange["changes"][number];

export interface ChangeInput extends KeyInput {
  /** Left out for all limits with plans. */
  name?: string;
  /** Sent without a key: says that the key is left out on purpose. */
  all?: true;
  /** How long the override counts, ms. */
  for?: number;
  /** When it ends, in place of `for`, epoch ms. */
  until?: number;
  times?: number;
  add?: number;
  plan?: string;
  /** Of the action `clear`: the kind of override. */
  only?: OverrideKind;
  why?: string;
}

export type ChangesInput = Pick<KeyInput, "key" | "stored"> & { name?: string; count: number };

export function createAdminClient(client: TRPCClientLike, path: string): AdminClient {
  const untyped = untypedOf(client);
  // The client is not typed here, so only the router's contract tells the type of an answer.
  const ask = async <T>(name: string, input: unknown, signal: AbortSignal): Promise<T> =>
    (await untyped.query(`${path}.${name}`, input, { signal })) as T;
  return {
    limits: (signal) => ask("limits", undefined, signal),
    list: (input, signal) => ask("list", input, signal),
    key: (input, signal) => ask("key", input, signal),
    usage: (input, signal) => ask("usage", input, signal),
    denials: (input, signal) => ask("denials", input, signal),
    top: (input, signal) => ask("top", input, signal),
    overrides: (input, signal) => ask("overrides", input, signal),
    changes: (input, signal) => ask("changes", input, signal),
    undo: async (id) => (await untyped.mutation(`${path}.undo`, { id })) as NamedChange,
    async change(action, input) {
      const answer = (await untyped.mutation(`${path}.${action}`, input)) as
        AdminPlanChange | AdminChange;
      return "changes" in answer ? answer.changes : [{ ...answer, name: input.name! }];
    },
  };
}

/**
 * Why a question was not answered: the caller may not ask (`refused`), there is no such router
 * (`missing`), the question itself is wrong or comes too late (`wrong`), or the server cannot be reached or has failed
 * (`offline`).
 */
export type Trouble = "refused" | "missing" | "wrong" | "offline";

export function troubleOf(error: unknown): Trouble {
  const { data } = Object(error) as { data?: { httpStatus?: unknown } | null };
  switch (data?.httpStatus) {
    case 401:
    case 403:
      return "refused";
    case 404:
      return "missing";
    case 400:
    case 409:
    case 422:
      return "wrong";
    default:
      return "offline";
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
