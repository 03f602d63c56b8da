/**
 * PlanetScale's clients over HTTP: the store refuses them before any request, because Vitess lacks
 * JSON_TABLE.
 */
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type DrizzleLike, drizzleStore } from "../../../server/drizzle/index.js";
import { mysqlStore } from "../../../server/index.js";
import { importOfProject } from "./start-neon.js";

const hasPlanetscale = existsSync(new URL("node_modules/@planetscale/database", import.meta.url));
const NO_PLANETSCALE = "needs @planetscale/database: npm run install:test-projects";

const config = { url: "mysql://user:none@planetscale.example/limits" };

interface PlanetscaleModule {
  connect(options: object): object;
  Client: new (options: object) => object;
}

describe.skipIf(!hasPlanetscale)(`PlanetScale is refused (${NO_PLANETSCALE})`, () => {
  it("by mysqlStore", async () => {
    const { connect, Client } = await importOfProject<PlanetscaleModule>("@planetscale/database");
    for (const client of [connect(config), new Client(config)]) {
      expect(() => mysqlStore(client as never)).toThrow(
        "pool must be a pool of mysql2 or mariadb, and not a client of @planetscale/database, " +
          "because PlanetScale (Vitess) passes no JSON_TABLE on: keep the limits in another database",
      );
    }
  });

  it.each(["drizzle-orm", "drizzle-orm-1"])("by drizzleStore on %s", async (drizzleOrm) => {
    const { drizzle } = await importOfProject<{ drizzle(config: object): DrizzleLike }>(
      `${drizzleOrm}/planetscale-serverless`,
    );
    expect(() => drizzleStore(drizzle({ connection: config }))).toThrow(
      "drizzleStore cannot use this database: PlanetScale (Vitess) passes no JSON_TABLE on; " +
        "keep the limits in another database",
    );
  });
});
