/** The lines of TypeScript that give a limit. The lines run as they are. */
import { MINUTE, type RateLimitConfig, SECOND } from "trpc-rate-limit";

/** The longest first. A period of the playground is at most ten minutes. */
const DURATIONS = { MINUTE, SECOND };
type Duration = keyof typeof DURATIONS;

/** @param config one of the playground. */
export function codeOfLimit(config: RateLimitConfig): string {
  const { kind, rate, period, capacity = rate, shards = 1, blockFor, maxReserved } = config;
  const used = new Set<Duration>();

  function time(ms: number): string {
    const found = Object.entries(DURATIONS).find(([, unit]) => ms % unit === 0);
    if (found === undefined) return numberText(ms);
    const [name, unit] = found as [Duration, number];
    used.add(name);
    return ms === unit ? name : `${numberText(ms / unit)} * ${name}`;
  }

  const options = [
    `kind: "${kind}"`,
    `rate: ${numberText(rate)}`,
    `period: ${typeof period === "string" ? `"${period}"` : time(period)}`,
    // Months are counted from the first of January 1970. Other windows start anywhere.
    ...(period === "month" ? ["start: 0"] : []),
    ...(capacity === rate ? [] : [`capacity: ${numberText(capacity)}`]),
    ...(shards > 1 ? [`shards: ${shards}`] : []),
    ...(blockFor === undefined ? [] : [`blockFor: ${time(Number(blockFor))}`]),
    ...(maxReserved === undefined ? [] : [`maxReserved: ${numberText(maxReserved)}`]),
  ];
  const names = ["createRateLimiter", "memoryStore", ...used].sort((a, b) =>
    a.toLowerCase() < b.toLowerCase() ? -1 : 1,
  );
  return `import { ${names.join(", ")} } from "trpc-rate-limit/server";

export const limiter = createRateLimiter({
  store: memoryStore(), // or prismaStore(prisma)
  limits: {
    playground: {
${options.map((option) => `      ${option},`).join("\n")}
    },
  },
});
`;
}

/** 40000 as 40_000. Doubles below 1e21 have no exponent here. */
function numberText(value: number): string {
  const [whole = "", fraction] = String(value).split(".");
  const grouped = whole.length > 4 ? whole.replaceAll(/\B(?=(\d{3})+$)/g, "_") : whole;
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}
