/**
 * How many random cases a property gets. A change that breaks a property mostly fails within a fifth of
 * the cases, so every change is tested with a fifth. The nightly run and `npm run fuzz` run all cases.
 */
const isThorough = Boolean(process.env["NIGHTLY"]) || process.env["FUZZ_MINUTES"] !== undefined;

export const cases = (all: number) => (isThorough ? all : Math.ceil(all / 5));
