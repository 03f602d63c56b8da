import { describe, expect, it } from "vitest";
import { ownTables } from "../../../cli/verify/own-rows.js";

describe("the tables of verify", () => {
  it.each([
    ["permission denied for schema app", "a user who may create and drop tables"],
    ["CREATE command denied to user", "a user who may create and drop tables"],
    ['schema "app" does not exist', "?schema=NAME in the URL"],
    ["no schema has been selected to create in", "?schema=NAME in the URL"],
  ])("cannot be made for %s, which the message advises on", async (why, advice) => {
    const refuse = async () => {
      throw new Error(why);
    };
    const connection = { query: refuse, execute: refuse };
    const made = ownTables("postgresql", connection, { name: "RateLimitVerify" }).make();
    await expect(made).rejects.toThrow(`(${why})`);
    await expect(made).rejects.toThrow(advice);
  });
});
