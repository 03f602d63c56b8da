/** Databases with the roles of Supabase, and with the rights of these roles on new tables. */
import { randomUUID } from "node:crypto";
import pg from "pg";
import { createPostgres } from "./database.js";

/** Roles belong to the server. Another test may have made them, and may be using them, so they stay. */
export const SUPABASE_ROLES_SQL = `DO $$ BEGIN
  PERFORM pg_advisory_xact_lock(39);
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'anon') THEN
    CREATE ROLE anon NOLOGIN; CREATE ROLE authenticated NOLOGIN;
  END IF;
END $$`;

/**
 * An empty database. As on Supabase, the owner of its tables is not a superuser, and visitors may access
 * each new table.
 */
export async function createSupabase() {
  const database = await createPostgres();
  const id = randomUUID().slice(0, 8);
  const [owner, other] = [`owner_${id}`, `other_${id}`];
  const pools: pg.Pool[] = [];
  const statements = [
    SUPABASE_ROLES_SQL,
    'DROP TABLE "RateLimit", "RateLimitOverride"',
    `CREATE ROLE ${owner} NOLOGIN`,
    `CREATE ROLE ${other} NOLOGIN`,
    `GRANT ALL ON SCHEMA public TO ${owner}`,
    `GRANT USAGE ON SCHEMA public TO anon, authenticated, ${other}`,
    `ALTER DEFAULT PRIVILEGES FOR ROLE ${owner} IN SCHEMA public
      GRANT ALL ON TABLES TO anon, authenticated`,
  ];
  for (const statement of statements) await database.prisma.$executeRawUnsafe(statement);

  /** The URL for connections as a role, with the rights of that role only. */
  const urlAs = (role: string) => `${database.url}?options=-c%20role%3D${role}`;
  const poolAs = (role: string) => {
    const pool = new pg.Pool({ connectionString: urlAs(role), max: 4 });
    pool.on("error", () => {});
    pools.push(pool);
    return pool;
  };
  return {
    /** The URL for the owner of the tables, the role of the application. */
    url: urlAs(owner),
    owner: poolAs(owner),
    visitor: poolAs("anon"),
    /** A role that owns nothing. */
    other,
    urlAs,
    poolAs,
    async [Symbol.asyncDispose]() {
      for (const pool of pools) await pool.end();
      const server = new pg.Client({ connectionString: new URL("/postgres", database.url).href });
      await server.connect();
      await database[Symbol.asyncDispose]();
      await server.query(`DROP ROLE ${owner}, ${other}`);
      await server.end();
    },
  };
}
