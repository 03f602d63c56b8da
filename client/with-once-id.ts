/** An id for each mutation, which all its tries send. For limits that are charged `once` for an id. */

/** The ids of mutations, by the context that TanStack Query gives to all tries of a mutation. */
const ids = new WeakMap<object, string>();

/**
 * A `mutationFn` that sends an id with each call: a new one for each mutation, and the same one for
 * its retries. The server charges the id once (`once` of `rateLimited`), so a retry whose first
 * answer was lost is not charged again. A mutation that is sent again after a reload of the page has
 * another id. Needs TanStack Query 5.89 or later.
 *
 * @param send sends the call, such as `client.sendMessage.mutate`.
 * @param inputOf the input of the call, with the id: `(text: string, nonce) => ({ text, nonce })`.
 *
 * @example
 * import { useMutation } from "@tanstack/react-query";
 * import { withOnceId } from "trpc-rate-limit/client";
 *
 * const useSend = () =>
 *   useMutation({
 *     mutationFn: withOnceId(
 *       (input: { text: string; nonce: string }) => trpcClient.sendOnce.mutate(input),
 *       (variables: { text: string }, nonce) => ({ ...variables, nonce }),
 *     ),
 *   });
 */
export function withOnceId<TInput, TVariables, TData>(
  send: (input: TInput) => Promise<TData>,
  inputOf: (variables: TVariables, id: string) => TInput,
): (variables: TVariables, context: object) => Promise<TData> {
  return async (variables, context) => {
    let id = ids.get(context);
    // `randomUUID` exists in secure contexts only.
    if (id === undefined) {
      ids.set(context, (id = crypto.getRandomValues(new Uint32Array(4)).join("-")));
    }
    return send(inputOf(variables, id));
  };
}
