/**
 * Searches a serial order that respects the recorded times and gives the recorded answers: Wing and
 * Gong, "Testing and Verifying Concurrent Objects" (1993), with the configurations that were tried
 * remembered, after Lowe, "Testing for linearizability" (2017).
 *
 * Calls and returns are one linked list in order of time. What is called before the first return
 * may come next; taking it lifts its call and return out of the list, backtracking puts them back.
 */
import { applyTo, isCertain, isRead, type Operation, sameAnswer } from "./operation.js";

/** What the buckets hold, by index of their key. */
export type State = readonly number[];

export type Found =
  | { kind: "explained"; order: Operation[] }
  /** Nothing explains the history up to the return of `stuckAt`. */
  | { kind: "inexplicable"; stuckAt: Operation }
  /** Not found within the bound on configurations. */
  | { kind: "undecided" };

interface Entry {
  operation: Operation;
  indexes: readonly number[];
  position: number;
  previous: Entry;
  next: Entry;
  /** A call's return, absent where it may never take effect. */
  return?: Entry;
  isReturn: boolean;
}

interface Choice {
  call: Entry;
  state: State;
}

interface Step {
  choices: Choice[];
  tried: number;
  taken: Entry | undefined;
}

export interface SearchOptions {
  keys: readonly string[];
  initial: State;
  capacity: number;
  /** @default 500_000 */
  maxConfigurations?: number;
}

export function findOrder(
  operations: readonly Operation[],
  { keys, initial, capacity, maxConfigurations = 500_000 }: SearchOptions,
): Found {
  const head = linkedList(operations, keys);
  const tried = new Set<string>();
  const steps: Step[] = [];
  let state = initial;
  let furthest: Entry | undefined;

  for (;;) {
    const pending: Entry[] = [];
    let entry = head.next;
    for (; entry !== head && !entry.isReturn; entry = entry.next) pending.push(entry);
    if (entry === head) {
      return { kind: "explained", order: steps.map(({ taken }) => taken!.operation) };
    }
    if (furthest === undefined || entry.position > furthest.position) furthest = entry;
    // All that returned before is taken, nothing that is called after is: this tells the set apart.
    const configuration = [entry.position, ...pending.map((call) => call.position), ":", ...state];
    const id = configuration.join();
    const choices = tried.has(id) ? [] : choicesOf(pending, state, capacity);
    if (tried.add(id).size > maxConfigurations) return { kind: "undecided" };
    steps.push({ choices, tried: 0, taken: undefined });

    for (;;) {
      const step = steps.at(-1);
      if (step === undefined) return { kind: "inexplicable", stuckAt: furthest.operation };
      if (step.taken !== undefined) putBack(step.taken);
      const choice = step.choices[step.tried++];
      if (choice !== undefined) {
        lift(choice.call);
        step.taken = choice.call;
        state = choice.state;
        break;
      }
      steps.pop();
    }
  }
}

/** What may come next, the likeliest first: soonest due, and last what may never have happened. */
function choicesOf(pending: readonly Entry[], state: State, capacity: number): Choice[] {
  const certain: Choice[] = [];
  const uncertain = new Map<string, Choice>();
  for (const call of pending) {
    const { operation, indexes } = call;
    const values = indexes.map((index) => state[index]!);
    const { answer, next } = applyTo(values, operation, capacity);
    if (operation.answer !== undefined && !sameAnswer(operation.answer, answer)) continue;
    if (isCertain(operation)) {
      // A read that fits now need not wait: taking it later could not help anybody else.
      if (isRead(operation)) return [{ call, state }];
      certain.push({ call, state: withValues(state, indexes, next) });
    } else if (next.some((value, i) => value !== values[i])) {
      // Of several alike, none of which is ever due, any one stands for all.
      const alike = JSON.stringify([operation.action, operation.items, operation.answer]);
      if (uncertain.has(alike)) continue;
      uncertain.set(alike, { call, state: withValues(state, indexes, next) });
    }
  }
  certain.sort((a, b) => a.call.operation.end - b.call.operation.end);
  return [...certain, ...uncertain.values()];
}

function withValues(state: State, indexes: readonly number[], values: State): State {
  const changed = [...state];
  for (const [i, index] of indexes.entries()) changed[index] = values[i]!;
  return changed;
}

function linkedList(operations: readonly Operation[], keys: readonly string[]): Entry {
  const entries = operations.flatMap((operation) => {
    const indexes = operation.items.map(({ key }) => keys.indexOf(key));
    const call = { operation, indexes, isReturn: false } as unknown as Entry;
    if (!isCertain(operation)) return [call];
    call.return = { operation, indexes, isReturn: true } as unknown as Entry;
    return [call, call.return];
  });
  const timeOf = ({ isReturn, operation: { start, end } }: Entry) => (isReturn ? end : start);
  // At the same time, calls come first: in doubt, operations overlap.
  entries.sort((a, b) => timeOf(a) - timeOf(b) || Number(a.isReturn) - Number(b.isReturn));
  const head = {} as unknown as Entry;
  for (const [position, entry] of entries.entries()) {
    entry.position = position;
    entry.previous = entries[position - 1] ?? head;
    entry.next = entries[position + 1] ?? head;
  }
  head.next = entries[0] ?? head;
  head.previous = entries.at(-1) ?? head;
  return head;
}

function lift(call: Entry): void {
  for (const entry of [call, call.return]) {
    if (entry === undefined) continue;
    entry.previous.next = entry.next;
    entry.next.previous = entry.previous;
  }
}

/** Undoes {@link lift}; only right for the call that was lifted last. */
function putBack(call: Entry): void {
  for (const entry of [call.return, call]) {
    if (entry === undefined) continue;
    entry.previous.next = entry;
    entry.next.previous = entry;
  }
}
