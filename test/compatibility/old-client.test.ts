/** A server of today with a client of an older version. */
import { describe, expect, it } from "vitest";
import { acceptedInputs, narrowings } from "./client-requests.js";
import { loadFixtures } from "./fixtures.js";
import { documents, startServer } from "./server-documents.js";
import { problemsOf } from "./shapes.js";

describe.each(loadFixtures())("a client of version $version", (fixture) => {
  it.each(Object.entries(fixture.documents))(
    "understands what today's server sends: %s",
    async (title, { shape }) => {
      const write = documents[title];
      expect(write, "test/compatibility/server-documents.ts makes it").toBeDefined();
      expect(problemsOf(await write!(), shape)).toEqual([]);
    },
  );

  it.each(fixture.requests.sent)("is answered at $path", async ({ path, input }) => {
    const { ask, watch } = startServer();
    if (path === "rateLimit.watch") {
      const { items } = input as { items: Parameters<typeof watch>[0] };
      expect(await watch(items)).toMatchObject({ name: "send" });
    } else {
      expect(await ask(path, input)).toMatchObject({ status: 200 });
    }
  });

  it("may send each input that its own server accepted", () => {
    const today = acceptedInputs();
    const problems = Object.entries(fixture.requests.accepted).flatMap(([path, schema]) =>
      narrowings(schema, today[path], path),
    );
    expect(problems).toEqual([]);
  });

  it("would miss an input that is gone, another type, and a new demand", () => {
    const { "rateLimit.limit": old } = fixture.requests.accepted;
    const { reserve: _, ...rest } = old!.properties!;
    const change = (properties: object, required = ["name"]) =>
      narrowings(old!, { ...old, properties: properties as never, required }, "limit");
    expect(change(rest)).toEqual(["limit.reserve is gone"]);
    expect(change({ ...old!.properties, count: { type: "string" } })).toEqual([
      "limit.count was number, and is string",
    ]);
    expect(change(old!.properties!, ["name", "key"])).toEqual(["limit.key was optional"]);
    expect(narrowings(old!, undefined, "limit")).toEqual(["limit is gone"]);
  });
});
