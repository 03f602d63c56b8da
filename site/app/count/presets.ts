/** Six limiters to count with: five that are often written, and this package. Each allows ten calls. */

export interface Preset {
  id: string;
  title: string;
  /** Where such code is found, or what it stands for. */
  note: string;
  code: string;
}

/** The preset with this code, if there is one. */
export const presetOf = (code: string) => PRESETS.find((preset) => preset.code === code);

export const PRESETS: readonly [Preset, ...Preset[]] = [
  {
    id: "read-compare-write",
    title: "Read, compare, write",
    note: "The first thing that comes to mind, on any database.",
    code: `async function allow(key, db) {
  const count = (await db.get(key)) ?? 0;
  if (count >= 10) return false;
  await db.set(key, count + 1);
  return true;
}
`,
  },
  {
    id: "incr-expire",
    title: "INCR, then EXPIRE",
    note: "On Redis. Exact with return count <= 10, until a process dies between INCR and EXPIRE.",
    code: `async function allow(key, redis) {
  const current = await redis.get(key);
  if (current !== null && current >= 10) return false;
  const count = await redis.incr(key);
  if (count === 1) await redis.expire(key, 60);
  return true;
}
`,
  },
  {
    id: "map",
    title: "A Map per process",
    note: "The table is never asked. Right for one process, until there are two.",
    code: `const counts = new Map(); // each process has its own

async function allow(key) {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count <= 10;
}
`,
  },
  {
    id: "prisma",
    title: "An increment by Prisma",
    note: "The increment is atomic, and no count is lost. The check before it is another statement.",
    code: `async function allow(key, prisma) {
  const row = await prisma.rateLimit.findUnique({ where: { key } });
  if (row && row.count >= 10) return false;
  await prisma.rateLimit.upsert({
    where: { key },
    create: { key, count: 1 },
    update: { count: { increment: 1 } },
  });
  return true;
}
`,
  },
  {
    id: "postgresql",
    title: "A bucket that never denies",
    note: "On PostgreSQL. One statement, no race. But a refused take changes nothing, and is taken for a yes.",
    code: `// INSERT … ON CONFLICT (key) DO UPDATE SET tokens =
//   CASE WHEN tokens >= 1 THEN tokens - 1 ELSE tokens END
// RETURNING tokens
async function allow(key, db) {
  const tokens = await db.update(key, (left = 10) =>
    left >= 1 ? left - 1 : left,
  );
  return tokens >= 0;
}
`,
  },
  {
    id: "package",
    title: "This package",
    note: "The package's own limiter, on the same table, as far away. Each decision is one statement.",
    code: `const limiter = createRateLimiter({
  store, // the same table
  limits: {
    calls: { kind: "token bucket", rate: 10, period: HOUR },
  },
});

async function allow(key) {
  const { ok } = await limiter.limit("calls", { key });
  return ok;
}
`,
  },
];
