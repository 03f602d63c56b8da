/** A server of an older version with a client of today. */
import { describe, expect, it } from "vitest";
import { read } from "./client-readings.js";
import { refusalsOf, requestsOfClient } from "./client-requests.js";
import { loadFixtures } from "./fixtures.js";

describe.each(loadFixtures())("a server of version $version", async (fixture) => {
  const documents = Object.entries(fixture.documents);
  const readable = documents.filter(([, { read: reading }]) => reading !== undefined);

  it.each(readable)("is understood by today's client: %s", (_title, document) => {
    expect(read(document.written)).toEqual(document.read);
  });

  it.each(readable)("could have sent more fields: %s", (_title, document) => {
    expect(read(withMoreFields(document.written))).toEqual(document.read);
  });

  it("sent what its own client made nothing of, and so does today's", () => {
    const others = documents.filter(([, { read: reading }]) => reading === undefined);
    expect(readable.length).toBeGreaterThan(others.length / 2);
    for (const [title, { written }] of others)
      expect(read(written), `a document about ${title}`).toBeUndefined();
  });

  it("accepts what today's client asks", async () => {
    const { accepted } = fixture.requests;
    const requests = await requestsOfClient();
    expect(requests.map(({ path }) => path).sort()).toEqual([
      "rateLimit.status",
      "rateLimit.status",
      "rateLimit.watch",
    ]);
    const refusals = requests.map(({ path, input }) => refusalsOf(input, accepted[path], path));
    expect(refusals.flat()).toEqual([]);
  });

  it("would refuse a field that it does not know, a wrong type and a path that it lacks", () => {
    const { "rateLimit.status": status } = fixture.requests.accepted;
    const ask = (input: unknown) => refusalsOf(input, status, "it");
    expect(ask({ name: "send", since: 1 })).toEqual(["it.since is unknown"]);
    expect(ask({ name: "send", key: 1 })).toEqual(["it.key is number, and must be string"]);
    expect(ask({})).toEqual(["it.name is missing"]);
    expect(refusalsOf({}, undefined, "rateLimit.other")).toEqual(["rateLimit.other is unknown"]);
  });
});

/** As a later server may write it: each object has a field that today's client does not know. */
function withMoreFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withMoreFields);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([name, of]) => [name, withMoreFields(of)]);
  return { ...Object.fromEntries(fields), added: { since: "later" } };
}
