/**
 * What readers choose among tabs of code. One choice counts for all tabs of its kind, on all pages: a
 * reader who chose Drizzle sees Drizzle wherever a page has it.
 */

/** The labels that tabs of a kind can have, by the name that a screen reader says. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  "Package manager": ["npm", "pnpm", "yarn", "bun"],
  Client: ["tRPC", "fetch"],
  Store: ["Prisma", "Drizzle", "Kysely", "pg", "MariaDB"],
  Database: ["PostgreSQL", "MySQL", "SQLite"],
  Host: ["Hono", "Fastify", "Express"],
};

/** @throws Error about labels that no kind has together: their choice would not be remembered. */
export function tabKindOf(labels: readonly string[]): string {
  const found = Object.entries(KINDS).find(([, known]) =>
    labels.every((each) => known.includes(each)),
  );
  if (found === undefined)
    throw new Error(`site/tab-kinds.ts has no kind for ${labels.join(", ")}`);
  return found[0];
}
