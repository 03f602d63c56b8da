/**
 * How many random cases a property gets. A change that breaks one mostly fails within a fifth of
 * them, so that is what every change is tested with; the nightly run and `npm run fuzz` run all.
 */
const isThorough = Boolean(process.env["NIGHTLY"]) || process.env["FUZZ_MINUTES"] !== undefined;

export const cases = (all: number) => (isThorough ? all : Math.ceil(all / 5));
