/** Takes names of hosts, users, files and passwords out of texts that people publish. */
import { shownOf, type Target } from "./find-target.js";

/** Services, by what the names of their hosts end in. A report names the service, and not the host. */
const VENDORS: readonly [name: string, pattern: RegExp][] = [
  ["Neon", /\.neon\.tech$/],
  ["Supabase", /\.supabase\.(?:co|com)$/],
  ["PlanetScale", /\.(?:psdb\.cloud|pscale\.[\w.]+|connect\.psdb\.cloud)$/],
  ["Turso", /\.turso\.io$/],
  ["Upstash", /\.upstash\.io$/],
  ["Prisma Postgres", /\.prisma(?:-data)?\.(?:io|net)$/],
  ["Amazon", /\.amazonaws\.com$/],
  ["Azure", /\.azure\.com$/],
  ["Aiven", /\.aivencloud\.com$/],
  ["DigitalOcean", /\.ondigitalocean\.com$/],
  ["Redis Cloud", /\.(?:redislabs|redis-cloud|redns)\.\w+$/],
  ["Railway", /\.(?:railway\.(?:app|internal)|rlwy\.net)$/],
  ["Render", /\.render\.com$/],
];

/** `undefined` for a host of nobody's. */
export function vendorOf(target: Target): string | undefined {
  const host = hostOf(target);
  return VENDORS.find(([, pattern]) => pattern.test(host))?.[0];
}

function urlOf(target: Target): URL {
  return new URL(target.kind === "sql" ? target.url.url : target.url);
}

function hostOf(target: Target): string {
  return urlOf(target).hostname;
}

/** A part of a host's name that is long, or has digits or hyphens, is the name of somebody's database. */
const IS_OWN = /^(?=.*[\d-]).{6,}$|^.{16,}$/;

/** Parameters of a URL, such as `?host=…&password=…` of PostgreSQL and `?authToken=…` of libsql. */
const PARAMS: readonly [name: RegExp, by: string][] = [
  [/pass|token|secret/i, "<password>"],
  [/^host/i, "<host>"],
];
/** The variables that tokens of libsql are in. */
const TOKENS = ["DATABASE_AUTH_TOKEN", "TURSO_AUTH_TOKEN"];

/** Replaces what must not be published, in all texts of `value`. */
export function hideNames<T>(value: T, target: Target): T {
  const users = usersOf(target);
  const patterns: (readonly [pattern: RegExp, by: string])[] = [
    ...secretsOf(target).map(([text, by]) => [patternOf(text), by] as const),
    ...users.map((user) => [patternOfUser(user), "$1<user>"] as const),
    ...OF_ANYBODY,
  ];
  return mapTexts(value, (text) =>
    patterns.reduce((hidden, [pattern, by]) => hidden.replaceAll(pattern, by), text),
  ) as T;
}

function secretsOf(target: Target): [text: string, by: string][] {
  const { hostname, password, searchParams } = urlOf(target);
  // Messages show an address of version 6 without its brackets.
  const host = hostname.replace(/^\[|\]$/g, "");
  const parts = host.split(".").filter((part) => IS_OWN.test(part));
  const secrets: [text: string | undefined, by: string][] = [
    [password, "<password>"],
    [decoded(password), "<password>"],
    ...TOKENS.map((name) => [process.env[name], "<password>"] as [string | undefined, string]),
    [target.kind === "sql" ? target.url.file : undefined, "<file>"],
    [shownOf(target), "<database>"],
    [host, "<host>"],
    ...parts.map((part) => [part, "<host>"] as [string, string]),
  ];
  for (const [name, value] of searchParams) {
    const [, by] = PARAMS.find(([pattern]) => pattern.test(name)) ?? [];
    if (by !== undefined) secrets.push([value, by]);
  }
  return secrets.filter((secret): secret is [string, string] => Boolean(secret[0]));
}

function usersOf(target: Target): string[] {
  const { username, searchParams } = urlOf(target);
  return [decoded(username), searchParams.get("user") ?? ""].filter(Boolean);
}

/** Clients of PostgreSQL accept a `%` that encodes nothing. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** From this length on, a text is a secret also as a part of a word. */
const LONG = 9;

/** A short text is a part of other words: db is one of mariadb. */
function patternOf(text: string): RegExp {
  const bare = escaped(text);
  return new RegExp(text.length < LONG ? `(?<![a-zA-Z0-9])${bare}(?![a-zA-Z0-9])` : bare, "g");
}

/** A short user, such as root or default, is a word of other sentences, unless quoted or called a user. */
function patternOfUser(user: string): RegExp {
  const bare = escaped(user);
  if (user.length >= LONG) return new RegExp(`()${bare}`, "g");
  return new RegExp(`(\\b(?:user|role|owner):? |(?<=["'\`]))${bare}(?!\\w)`, "gi");
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

/** What servers say of users and addresses, whatever the URL has. */
const OF_ANYBODY: readonly (readonly [pattern: RegExp, by: string])[] = [
  [/'[^'\s]*'@'[^']*'/g, "<user>"],
  [/\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d+)?/g, "<address>"],
  [
    /(?<![\w:])(?:(?:[\da-f]{1,4}:){7}|[\da-f:]*::(?:[\da-f]{1,4}:)*)[\da-f]{1,5}(?::\d+)?(?![\w:])/gi,
    "<address>",
  ],
];

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === "string") return map(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, map));
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, mapTexts(each, map)]),
  );
}
