/**
 * How many random cases a property gets. A change that breaks one mostly fails within a fifth of
 * them, so that is what `npm test` runs; CI and `npm run fuzz` run all.
 */
const isThorough = process.env["CI"] !== undefined || process.env["FUZZ_MINUTES"] !== undefined;

export const cases = (all: number) => (isThorough ? all : Math.ceil(all / 5));
