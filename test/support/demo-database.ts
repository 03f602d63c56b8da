/** An empty database for a demo, on the PostgreSQL server of the tests. */
import pg from "pg";

export interface DemoDatabase {
  url: string;
  /** Runs one statement in the database. */
  run(statement: string, values?: readonly unknown[]): Promise<void>;
  drop(): Promise<void>;
}

/** @param server the URL of the server on which the database is created. */
export async function createPostgresDatabase(server: string): Promise<DemoDatabase> {
  const name = `demo_${process.pid}_${Date.now()}`;
  const own = new URL(server);
  own.pathname = name;
  await query(server, `CREATE DATABASE ${name}`);
  return {
    url: own.href,
    run: (statement, values) => query(own.href, statement, values),
    drop: () => query(server, `DROP DATABASE ${name} WITH (FORCE)`),
  };
}

async function query(url: string, statement: string, values: readonly unknown[] = []) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement, [...values]);
  } finally {
    await client.end();
  }
}
