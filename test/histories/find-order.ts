/**
 * Searches for a serial order that respects the recorded times and gives the recorded answers. The
 * algorithm is from Wing and Gong, "Testing and Verifying Concurrent Objects" (1993). The search
 * remembers the configurations that it has tried, after Lowe, "Testing for linearizability" (2017).
 *
 * Calls and returns form one linked list, ordered by time. An operation that is called before the first
 * return may come next. Choosing it removes its call and return from the list. Backtracking puts them
 * back.
 */
import { applyTo, isCertain, isRead, type Operation, sameAnswer } from "./operation.js";

/** The values of the buckets, by index of their key. */
export type State = readonly number[];

export type Found =
  | { kind: "explained"; order: Operation[] }
  /** No order explains the history up to the return of `failedAt`. */
  | { kind: "inexplicable"; failedAt: Operation }
  /** The search reached `maxConfigurations` without an answer. */
  | { kind: "undecided" };

interface Entry {
  operation: Operation;
  indexes: readonly number[];
  position: number;
  previous: Entry;
  next: Entry;
  /** The return of a call. Absent if the operation may never take effect. */
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
  chosen: Entry | undefined;
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
      return { kind: "explained", order: steps.map(({ chosen }) => chosen!.operation) };
    }
    if (furthest === undefined || entry.position > furthest.position) furthest = entry;
    // Every operation that returned earlier is chosen, and no operation that is called later. So the
    // position and the pending calls identify the set of chosen operations.
    const configuration = [entry.position, ...pending.map((call) => call.position), ":", ...state];
    const id = configuration.join();
    const choices = tried.has(id) ? [] : choicesOf(pending, state, capacity);
    if (tried.add(id).size > maxConfigurations) return { kind: "undecided" };
    steps.push({ choices, tried: 0, chosen: undefined });

    for (;;) {
      const step = steps.at(-1);
      if (step === undefined) return { kind: "inexplicable", failedAt: furthest.operation };
      if (step.chosen !== undefined) putBack(step.chosen);
      const choice = step.choices[step.tried++];
      if (choice !== undefined) {
        remove(choice.call);
        step.chosen = choice.call;
        state = choice.state;
        break;
      }
      steps.pop();
    }
  }
}

/** The operations that may come next: the earliest end first, and uncertain operations last. */
function choicesOf(pending: readonly Entry[], state: State, capacity: number): Choice[] {
  const certain: Choice[] = [];
  const uncertain = new Map<string, Choice>();
  for (const call of pending) {
    const { operation, indexes } = call;
    const values = indexes.map((index) => state[index]!);
    const { answer, next } = applyTo(values, operation, capacity);
    if (operation.answer !== undefined && !sameAnswer(operation.answer, answer)) continue;
    if (isCertain(operation)) {
      // Choose a matching read at once. A read changes nothing, so a later place cannot help.
      if (isRead(operation)) return [{ call, state }];
      certain.push({ call, state: withValues(state, indexes, next) });
    } else if (next.some((value, i) => value !== values[i])) {
      // Keep one of several equal uncertain operations. None of them has an end, so any will do.
      const signature = JSON.stringify([operation.action, operation.items, operation.answer]);
      if (uncertain.has(signature)) continue;
      uncertain.set(signature, { call, state: withValues(state, indexes, next) });
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
  // At equal times, calls come first, so that the operations count as overlapping.
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

function remove(call: Entry): void {
  for (const entry of [call, call.return]) {
    if (entry === undefined) continue;
    entry.previous.next = entry.next;
    entry.next.previous = entry.previous;
  }
}

/** Undoes {@link remove}. Only correct for the call that was removed last. */
function putBack(call: Entry): void {
  for (const entry of [call.return, call]) {
    if (entry === undefined) continue;
    entry.previous.next = entry;
    entry.next.previous = entry;
  }
}
