/** Tables of calls that are refused: a test for each row, whose title is what the caller is told. */
import { expect, it } from "vitest";

type Errors = new (...args: never[]) => Error;
/** A part of the message, a class of errors, or properties of the error. */
type Told = string | RegExp | object | Errors;
export type Refusal = readonly [call: () => unknown, ...told: Told[]];

const isProperties = (told: Told): told is object =>
  typeof told === "object" && !(told instanceof RegExp);

function matcherOf(told: Told): Error {
  return (isProperties(told) ? expect.objectContaining(told) : told) as Error;
}

function wordsOf(told: Told): string {
  if (typeof told === "function") return (told as Errors).name;
  return isProperties(told) ? JSON.stringify(told) : `${told as string | RegExp}`;
}

const titled = (rows: readonly Refusal[]) =>
  rows.map(([call, ...told]) => [told.map(wordsOf).join(", "), call, told] as const);

/** Calls that throw an error of this class at once, as where something is made or defined. */
export function itThrows(errors: Errors, rows: readonly Refusal[]): void {
  it.each(titled(rows))("refuses: %s", (_, call, told) => {
    for (const each of [errors, ...told]) expect(call).toThrow(matcherOf(each));
  });
}

/** Calls whose promise rejects with an error of this class. They must not throw. */
export function itRejects(errors: Errors, rows: readonly Refusal[], after?: () => void): void {
  it.each(titled(rows))("refuses: %s", async (_, call, told) => {
    const answer = Promise.resolve(call());
    for (const each of [errors, ...told]) {
      await expect(answer).rejects.toThrow(matcherOf(each));
    }
    after?.();
  });
}

/** One row for each wrong value of an option. */
export function wrong(
  option: string,
  values: readonly unknown[],
  call: (options: object) => () => unknown,
  ...told: Told[]
): Refusal[] {
  return values.map((value) => [call({ [option]: value }), ...told] as const);
}
