/** Opens a call of a model: enters its slot, and takes its estimate. */
import { keyOption } from "../../core/key-option.js";
import type { PlanOptions } from "../limiter/types/call.js";
import type { LimitAllItem } from "../limiter/types/limit-all.js";
import type { LimitConfigs } from "../limiter/types/names.js";
import { planOption } from "../limiter/parts/plan-of-request.js";
import type { HeldSlot } from "../limiter/slots/hold.js";
import type { AskedItem, AskedLimit } from "./asked-limits.js";
import { Bill, type BillItem, type BillOptions } from "./bill.js";
import { estimateTokens } from "./count-tokens.js";
import type { ModelCallOptions, ModelUnit, ProviderLimit } from "./limit-model-options.js";
import type { ModelCall, ModelCallParams } from "./model-types.js";
import { type AskedSlots, keyOf, type UntypedModelLimiter } from "./validate-limit-model.js";

/** The limiter and the options of one `limitModel`. */
export interface Limited extends Pick<
  ModelCallOptions<LimitConfigs>,
  "estimate" | "once" | "hold" | "context"
> {
  limits: UntypedModelLimiter;
  items: readonly AskedItem[];
  providers: readonly ProviderLimit[];
  slots: AskedSlots | undefined;
}

/** A slot that holds nothing cannot be held by a stream. */
type ModelSlot = Pick<HeldSlot, "release"> & Partial<Pick<HeldSlot, "whileRead">>;

/** A call that may ask the model. */
export interface OpenCall {
  bill: Bill;
  slot: ModelSlot | undefined;
}

/**
 * @throws RateLimitError for a call without a slot or without its tokens. It then has neither.
 * @throws the reason of a signal that is aborted before the model is asked. The slot is then free, and all
 * tokens come back.
 */
export async function openCall(limited: Limited, call: ModelCall): Promise<OpenCall> {
  const { abortSignal } = call.params;
  abortSignal?.throwIfAborted();
  const items = await billItems(limited, call);
  const once = await limited.once?.(call);
  const context = await valueOf<unknown>(limited.context, call);
  abortSignal?.throwIfAborted();
  // First the slot: a call that waits in line holds no tokens back.
  const slot = await enterSlot(limited, call, context);
  try {
    return { bill: await openBill(limited, items, { once, context, abortSignal }), slot };
  } catch (error) {
    await slot?.release();
    throw error;
  }
}

async function openBill(
  { limits, hold }: Limited,
  items: readonly BillItem[],
  { once, context, abortSignal }: Omit<BillOptions, "hold"> & Pick<ModelCallParams, "abortSignal">,
): Promise<Bill> {
  abortSignal?.throwIfAborted();
  const bill = await Bill.open(limits, items, { once, hold, context });
  if (abortSignal?.aborted) await bill.undo();
  abortSignal?.throwIfAborted();
  return bill;
}

async function enterSlot(
  { limits, slots }: Limited,
  call: ModelCall,
  context: unknown,
): Promise<ModelSlot | undefined> {
  if (slots === undefined) return undefined;
  const { maxWait } = slots;
  const { name, config: _, ...options } = await chargedOf(limits, slots, call);
  const signal = call.params.abortSignal;
  const slot = await limits.enter!(name, { ...options, maxWait, signal, context, throws: true });
  // A call without a slot has thrown.
  return slot as ModelSlot;
}

async function billItems(limited: Limited, call: ModelCall): Promise<BillItem[]> {
  const { limits, providers, estimate } = limited;
  const estimated = await (estimate?.(call) ?? estimateTokens(call.params));
  const own = limited.items.map(async ({ payers, isFirst, split, plan, of }): Promise<BillItem> => {
    const counted = countOf(of, estimated);
    const charged = await Promise.all(
      payers.map((payer) => chargedOf(limits, { ...payer, plan: payer.plan ?? plan }, call)),
    );
    const { count } = counted;
    const item = isFirst ? { first: charged, split, count } : { ...charged[0]!, count };
    return { item, names: payers.map(({ name }) => name), ...counted };
  });
  return [
    ...(await Promise.all(own)),
    ...providers.map(({ name, key, of }) => {
      const counted = countOf(of, estimated);
      const item = { name, ...keyOption(key), count: counted.count };
      return { item, names: [name], ...counted };
    }),
  ];
}

/** A request costs 1, whatever it uses. */
function countOf(
  of: ModelUnit | undefined,
  estimated: number,
): Pick<BillItem, "count" | "isSettled"> {
  const isSettled = of !== "requests";
  return { count: isSettled ? estimated : 1, isSettled };
}

/** The limit with the key, and the plan or the config, of a call. */
async function chargedOf(
  limits: UntypedModelLimiter,
  { name, plan, ...asked }: AskedLimit,
  call: ModelCall,
): Promise<LimitAllItem & PlanOptions> {
  const key = keyOf(await valueOf(asked.key, call), name);
  const config = await valueOf(asked.config, call);
  const say = plan === undefined ? plan : () => valueOf(plan, call);
  const ofPlan = config === undefined ? await planOption(limits, { name, key }, say) : {};
  return { name, ...keyOption(key), ...ofPlan, config };
}

async function valueOf<TValue>(
  option: TValue | ((call: ModelCall) => TValue | Promise<TValue>),
  call: ModelCall,
): Promise<TValue> {
  // A function is never the value itself, but always returns the value.
  return typeof option === "function" ? (option as (_: ModelCall) => TValue)(call) : option;
}
