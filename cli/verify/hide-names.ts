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

/** Replaces what must not be published, in all texts of `value`. */
export function hideNames<T>(value: T, target: Target): T {
  const { hostname, username, password } = urlOf(target);
  const decoded = [password, decodeURIComponent(password)];
  const parts = hostname.split(".").filter((part) => IS_OWN.test(part));
  const file = target.kind === "sql" ? target.url.file : undefined;
  const secrets: [text: string | undefined, by: string][] = [
    ...decoded.map((text) => [text, "<password>"] as [string, string]),
    [file, "<file>"],
    [shownOf(target), "<database>"],
    [hostname, "<host>"],
    ...parts.map((part) => [part, "<host>"] as [string, string]),
    // A short name, such as root, is a part of other words.
    [username.length > 8 ? decodeURIComponent(username) : undefined, "<user>"],
  ];
  return mapTexts(value, (text) => {
    let hidden = text;
    for (const [secret, by] of secrets) if (secret) hidden = hidden.replaceAll(secret, by);
    return hidden
      .replaceAll(/'[^'\s]*'@'[^']*'/g, "<user>")
      .replaceAll(/\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d+)?/g, "<address>");
  }) as T;
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === "string") return map(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, map));
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, mapTexts(each, map)]),
  );
}
