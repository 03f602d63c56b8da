/**
 * The parts of a test runner that `describeStore` needs. The types are structural, so the package imports
 * no runner.
 */

/** Vitest, Jest, or another runner with functions of these names. */
export interface TestRunner {
  /** Groups tests. */
  describe(title: string, define: () => void): unknown;
  /** Defines one test. */
  it(title: string, run: () => Promise<void>): unknown;
  /** Runs before each test of the group. */
  beforeEach(run: () => Promise<void>): unknown;
  /** Runs after each test of the group. */
  afterEach(run: () => Promise<void>): unknown;
  /** Makes the matchers for a value. */
  expect(actual: unknown): TestMatchers;
}

/** The parts of a runner with which a group of the tests defines them. */
export type TestDefiner = Pick<TestRunner, "it" | "expect">;

/** The matchers that `expect` has to return. */
export interface TestMatchers {
  /** Fails unless the value is identical, by `Object.is`. */
  toBe(expected: unknown): unknown;
  /** Fails unless the value is deeply equal. Properties that are `undefined` do not count. */
  toEqual(expected: unknown): unknown;
}

/**
 * Skips the running test, with a reason. Vitest and `node:test` pass a context to tests, which can skip
 * the test. Jest passes no context: the reason is printed, and the test passes.
 *
 * @param context the arguments of the test.
 */
export function skipTest([context]: readonly unknown[], reason: string): void {
  const { skip } = Object(context) as { skip?: unknown };
  if (typeof skip === "function") (context as { skip(why: string): void }).skip(reason);
  else console.info(`skipped: ${reason}`);
}
