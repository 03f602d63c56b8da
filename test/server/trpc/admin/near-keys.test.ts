/** A key that is looked up and has no row: keys that are like it, as far as the operator may see them. */
import { expect, describe, it } from "vitest";
import { HOUR, memoryStore } from "../../../../server/index.js";
import { openAdmin } from "../../../support/admin-caller.js";
import { stores } from "../../../support/stores.js";

const send = { kind: "token bucket", rate: 2, period: HOUR } as const;

describe.each(stores)("a key without a row on %s", (_, open) => {
  it.each([
    ["a beginning", "cust", ["customer 1", "customer 12"]],
    ["spaces around it", "  customer 12 ", ["customer 12"]],
    ["two spaces in it", "customer  12", ["customer 12"]],
    ["capital letters", "CUSTOMER 12", ["customer 12"]],
    ["small letters", "ada", ["Ada", "Ada_L"]],
    ["nothing like it", "bob", []],
    // Not a wildcard of any database.
    ["a per cent sign", "%", ["%25"]],
    ["an underscore", "customer_", []],
  ])("finds keys by %s", async (_what, key, near) => {
    await using opened = await open();
    const limits = { send, many: { ...send, shards: 3 } } as const;
    const { limiter, admin } = openAdmin(opened.store, limits);
    for (const used of ["customer 1", "Ada", "Ada_L", "%25", "other"]) {
      await limiter.limit("send", { key: used });
    }
    for (let i = 0; i < 4; i++) await limiter.limit("many", { key: "customer 12" });
    expect(await admin.key({ key, near: true })).toMatchObject({ near });
  });
});

describe("keys that are like another one", () => {
  const open = async (options: Parameters<typeof openAdmin>[2] = {}) => {
    const { limiter, admin } = openAdmin(memoryStore(), { send, other: send }, options);
    for (let i = 0; i < 20; i++) await limiter.limit("send", { key: `customer ${i}` });
    await limiter.limit("other", { key: "customer x" });
    return { limiter, admin };
  };

  it("are eight at most, the shortest first", async () => {
    const { admin } = await open();
    const { near } = await admin.key({ key: "customer", near: true });
    expect(near).toHaveLength(8);
    expect(near!.slice(0, 3)).toEqual(["customer 0", "customer 1", "customer 2"]);
  });

  it("are not asked for where the key has a row, or an override", async () => {
    const { limiter, admin } = await open();
    expect(await admin.key({ key: "customer 1", near: true })).not.toHaveProperty("near");
    await limiter.overrides.set("send", { key: "customer", blocked: true });
    expect(await admin.key({ key: "customer", near: true })).not.toHaveProperty("near");
    expect(await admin.key({ key: "nobody", stored: true, near: true })).not.toHaveProperty("near");
  });

  it("are not searched for by a page that asks again and again", async () => {
    const { admin } = await open();
    expect(await admin.key({ key: "customer" })).not.toHaveProperty("near");
  });

  it("are none where keys are hashed", async () => {
    const { admin } = await open({ hashKey: (key: string) => `#${key}` });
    expect(await admin.key({ key: "customer", near: true })).not.toHaveProperty("near");
  });

  it("are those that the operator may view, each under its limit", async () => {
    const { admin } = await open({
      authorize: ({ name, key }) =>
        (name !== "other" || key !== "customer x") && key !== "customer 1" && key !== "customer 11",
    });
    const { near } = await admin
      .key({ key: "customer 1", near: true })
      .catch(() => ({ near: undefined }));
    expect(near).toBeUndefined();
    expect((await admin.key({ key: "customer x", near: true })).near).toEqual([]);
    expect((await admin.key({ key: "CUSTOMER 1", near: true })).near).not.toContain("customer 11");
    expect((await admin.key({ key: "CUSTOMER 1", near: true })).near).toContain("customer 12");
  });
});
