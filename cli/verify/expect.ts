/** The matchers that the contract of stores needs. */
import { inspect } from "node:util";
import type { TestMatchers } from "../../testing/index.js";

/** The longest text of a value in a message. */
const SHOWN = 300;

export function expect(actual: unknown): TestMatchers {
  return {
    toBe(expected) {
      if (!Object.is(actual, expected)) throw unexpected(actual, expected);
    },
    toEqual(expected) {
      if (!isEqual(actual, expected)) throw unexpected(actual, expected);
    },
  };
}

/** Compares own properties. One that is `undefined` counts as missing. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a) && a.length !== (b as unknown[]).length) return false;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) =>
    isEqual((a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name]),
  );
}

function unexpected(actual: unknown, expected: unknown): Error {
  return new Error(`expected ${textOf(expected)}, got ${textOf(actual)}`);
}

function textOf(value: unknown): string {
  const text = inspect(value, { breakLength: Infinity, depth: 4 });
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
