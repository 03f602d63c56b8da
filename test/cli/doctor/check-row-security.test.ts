/** `doctor` where row-level security hides the rows from the role of the application. */
import { describe, expect, it } from "vitest";
import { tableSql } from "../../../cli/table-sql.js";
import { createRateLimiter, HOUR, pgStore } from "../../../server/index.js";
import { faultsOf, findingOf, runDoctor } from "../../support/run-doctor.js";
import { createSupabase } from "../../support/supabase.js";

const limits = { logIn: { kind: "token bucket", rate: 1, period: HOUR } } as const;

describe("doctor, connected as another role than the owner of the tables", () => {
  it("fails where the rows are hidden from it, and is content after what it advises", async () => {
    await using database = await createSupabase();
    const { owner, other } = database;
    await owner.query(tableSql("postgresql", { closedTo: ["anon", "authenticated"] }));
    await owner.query(`GRANT ALL ON "RateLimit", "RateLimitOverride" TO ${other}`);
    const limiter = createRateLimiter({
      store: pgStore(database.poolAs(other)),
      limits,
      logger: false,
    });
    await expect(limiter.limit("logIn", { key: "ann" })).rejects.toThrow(/row-level security/);

    const findings = await runDoctor(database.urlAs(other));
    expect(faultsOf(findings)).toEqual(["error row-security", "error row-security"]);
    const { message } = findingOf(findings, "row-security");
    expect(message).toContain(`hides the rows of table "RateLimit" from ${other},`);
    for (const { check, advice } of findings) {
      if (check === "row-security") await owner.query(/CREATE POLICY .*;/.exec(advice!)![0]);
    }
    expect(faultsOf(await runDoctor(database.urlAs(other)))).toEqual([]);
    const logIn = async () => (await limiter.limit("logIn", { key: "ann" })).ok;
    expect([await logIn(), await logIn()]).toEqual([true, false]);
  });

  it("fails where a policy is for one command only", async () => {
    await using database = await createSupabase();
    const { owner, other } = database;
    await owner.query(tableSql("postgresql"));
    await owner.query('ALTER TABLE "RateLimit" ENABLE ROW LEVEL SECURITY');
    await owner.query('REVOKE ALL ON "RateLimit", "RateLimitOverride" FROM anon, authenticated');
    await owner.query(`GRANT ALL ON "RateLimit", "RateLimitOverride" TO ${other}`);
    await owner.query(`CREATE POLICY one ON "RateLimit" FOR SELECT TO ${other} USING (true)`);
    const findings = await runDoctor(database.urlAs(other));
    expect(faultsOf(findings)).toEqual(["error row-security"]);
  });
});
