import { describe, expect, it } from "vitest";
import { findTarget } from "../../../cli/verify/find-target.js";
import { hideNames, vendorOf } from "../../../cli/verify/hide-names.js";

const URL_OF_NEON =
  "postgresql://neondb_owner:npg_S3cr%2Ft@ep-quiet-sun-a1b2c3.eu-central-1.aws.neon.tech/neondb?sslmode=require";

describe("what verify publishes", () => {
  it("has no host, no user, no password and no address", async () => {
    const target = await findTarget("/", URL_OF_NEON);
    const texts = [
      "getaddrinfo ENOTFOUND ep-quiet-sun-a1b2c3.eu-central-1.aws.neon.tech",
      "no endpoint ep-quiet-sun-a1b2c3",
      "connect ECONNREFUSED 10.20.30.40:5432",
      "password npg_S3cr/t or npg_S3cr%2Ft of neondb_owner is wrong",
      "Access denied for user 'ann'@'10.20.30.40'",
    ];
    expect(hideNames({ texts, count: 1, none: undefined }, target)).toEqual({
      texts: [
        "getaddrinfo ENOTFOUND <host>",
        "no endpoint <host>",
        "connect ECONNREFUSED <address>",
        "password <password> or <password> of <user> is wrong",
        "Access denied for user <user>",
      ],
      count: 1,
      none: undefined,
    });
  });

  it.each([
    [
      "a short user in quotes",
      "postgresql://ann:x@db",
      'user "ann" is no annex',
      'user "<user>" is no annex',
    ],
    [
      "a short user after the word",
      "redis://app:x@db",
      "User app may not use app",
      "User <user> may not use app",
    ],
    [
      "a user and a password as parameters",
      "postgresql://h/d?user=ann&password=Zq8",
      'user "ann", Zq8',
      'user "<user>", <password>',
    ],
    [
      "a password with a bare %",
      "postgresql://ann:81%Zq@db/d",
      "81%Zq at db",
      "<password> at <host>",
    ],
    [
      "a token as a parameter",
      "libsql://db/?authToken=eyJhbGciOi.x",
      "eyJhbGciOi.x is old",
      "<password> is old",
    ],
    [
      "a host that is a word of others",
      "mysql://ann:x@db/d",
      "ENOTFOUND db of mariadb",
      "ENOTFOUND <host> of mariadb",
    ],
    ["a folder of a socket", "postgresql:///d?host=/run/pg", "no /run/pg/.s", "no <host>/.s"],
    [
      "an address of version 6",
      "redis://[fd00::12]:1",
      "connect ECONNREFUSED fd00::12:1",
      "connect ECONNREFUSED <host>:1",
    ],
    [
      "another address of version 6",
      "redis://db",
      "connect ECONNREFUSED 2a05:d014::1:5432",
      "connect ECONNREFUSED <address>",
    ],
    ["neither a time nor a cast", "redis://db", "10:11:12 'a'::date", "10:11:12 'a'::date"],
  ])("hides %s", async (_, url, text, hidden) => {
    expect(hideNames(text, await findTarget("/", url))).toBe(hidden);
  });

  it("names the service that a host belongs to", async () => {
    expect(vendorOf(await findTarget("/", URL_OF_NEON))).toBe("Neon");
    const of = async (url: string) => vendorOf(await findTarget("/", url));
    expect(await of("postgresql://db.abcdefghijklmnopqrst.supabase.co/postgres")).toBe("Supabase");
    expect(await of("libsql://app-ann.turso.io")).toBe("Turso");
    expect(await of("rediss://default:x@eu1-fit-cat-1.upstash.io:6379")).toBe("Upstash");
    expect(await of("mysql://aws.connect.psdb.cloud/app")).toBe("PlanetScale");
    expect(await of("mysql://db.example.com/app")).toBe(undefined);
    expect(await of("file:./app.db")).toBe(undefined);
  });
});
