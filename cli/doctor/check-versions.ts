/** Checks the versions of the packages that work together with this package. */
import { access } from "node:fs/promises";
import { join } from "node:path";
import { BROKEN } from "../broken-versions.js";
import { failure, type Finding, ok, warning } from "./finding.js";
import { versionOf } from "./load-package.js";

const CHECK = "versions";
export const TRPC = ["server", "client", "react-query", "tanstack-react-query", "next"].map(
  (name) => `@trpc/${name}`,
);

/**
 * The versions of packages with which the tests have been run. The package imports nothing of these
 * packages, so they are no peers: for a peer, npm would change the version to fit the range, or refuse to
 * install.
 */
export const TRIED: Readonly<Record<string, string>> = {
  "@prisma/client": ">=6.0.0 <8.0.0",
  "drizzle-orm": ">=0.38.0 <2.0.0",
};

/** @param peers the ranges of this package's peers. */
export async function checkVersions(
  root: string,
  peers: Readonly<Record<string, string>>,
): Promise<Finding[]> {
  const broken = BROKEN.map(({ name }) => name);
  const names = [
    ...new Set([...TRPC, "prisma", ...Object.keys({ ...peers, ...TRIED }), ...broken]),
  ];
  const found = await Promise.all(
    names.map(async (name) => [name, await versionOf(root, name)] as const),
  );
  const versions = new Map(found.filter((entry): entry is [string, string] => !!entry[1]));
  const findings: Finding[] = [];
  for (const [name, range] of Object.entries(peers)) {
    const version = versions.get(name);
    if (version === undefined || satisfies(version, range)) continue;
    const message = `${name} is ${version}, and this package works with ${range}`;
    findings.push(failure(CHECK, message, `npm install ${name}@"${range}"`));
  }
  for (const [name, range] of Object.entries(TRIED)) {
    const version = versions.get(name);
    if (version === undefined || satisfies(version, range)) continue;
    const message = `${name} is ${version}, and this package has been run with ${range}`;
    findings.push(
      warning(CHECK, message, "run your tests of limits on it, or install one of these"),
    );
  }
  for (const { name, versions: range, why, instead } of BROKEN) {
    const version = versions.get(name);
    if (version === undefined || !satisfies(version, range)) continue;
    const message = `${name} is ${version}: ${why}`;
    findings.push(failure(CHECK, message, `npm install ${name}@${instead}`));
  }
  findings.push(...prismaFindings(versions.get("prisma"), versions.get("@prisma/client")));
  const trpc = [...versions].filter(([name]) => TRPC.includes(name));
  const all = [
    ...trpc,
    ...(await nestedTrpc(
      root,
      trpc.map(([name]) => name),
    )),
  ];
  if (new Set(all.map(([, version]) => version)).size > 1) {
    const shown = all.map(([name, version]) => `${name} ${version}`).join(", ");
    findings.push(
      warning(
        CHECK,
        `${DIFFERENT}: ${shown}`,
        "install one version of all of them; otherwise types and links do not fit together",
      ),
    );
  }
  if (findings.length > 0) return findings;
  const shown = [...versions].map(([name, version]) => `${name} ${version}`).join(", ");
  return [ok(CHECK, shown || NOTHING)];
}

/** Begins the warning about the packages of tRPC in one folder. */
export const DIFFERENT = "the packages of tRPC have different versions";

const NOTHING = "there is nothing to check: none of tRPC, an ORM, React or zod is installed";

/**
 * The command `prisma` generates code for a client of its own major and minor version. The patch versions
 * may differ.
 */
function prismaFindings(command: string | undefined, client: string | undefined): Finding[] {
  if (command === undefined || client === undefined) return [];
  const [own, other] = [partsOf(command), partsOf(client)];
  if (own[0] === other[0] && own[1] === other[1]) return [];
  const newer = (compare(own, other) > 0 ? own : other).slice(0, 2).join(".");
  const message = `prisma is ${command}, and @prisma/client is ${client}`;
  const install = `npm install prisma@${newer} @prisma/client@${newer}`;
  return [warning(CHECK, message, `run ${install}, and npx prisma generate`)];
}

/** Finds copies of tRPC's packages that a package has in its own `node_modules`. */
async function nestedTrpc(root: string, names: readonly string[]): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for (const owner of [...names, "trpc-rate-limit"]) {
    const folder = join(root, "node_modules", owner);
    for (const name of TRPC) {
      const isThere = await access(join(folder, "node_modules", name)).then(
        () => true,
        () => false,
      );
      const version = isThere ? await versionOf(folder, name) : undefined;
      if (version !== undefined) found.push([`${name} of ${owner}`, version]);
    }
  }
  return found;
}

/** Knows only the ranges that this package uses: `^1.2.3`, `>=1.2.3`, `<2.0.0`, with spaces and `||`. */
export function satisfies(version: string, range: string): boolean {
  const actual = partsOf(version);
  return range.split("||").some((alternative) =>
    alternative
      .trim()
      .split(/\s+/)
      .every((term) => {
        const [, operator = "", bound = ""] = /^(\^|>=|<=|<|>|)(.*)$/.exec(term)!;
        const wanted = partsOf(bound);
        const order = compare(actual, wanted);
        if (operator === "^") return order >= 0 && sameLeft(actual, wanted);
        if (operator === ">=") return order >= 0;
        if (operator === "<") return order < 0;
        if (operator === "<=") return order <= 0;
        return operator === ">" ? order > 0 : order === 0;
      }),
  );
}

type Parts = [major: number, minor: number, patch: number];

/** The three numbers of a version. A pre-release has the numbers of its release. */
function partsOf(version: string): Parts {
  const [major = 0, minor = 0, patch = 0] = version.split(/[-+]/, 1)[0]!.split(".").map(Number);
  return [major, minor, patch];
}

function compare(a: Parts, b: Parts): number {
  const differing = a.findIndex((part, i) => part !== b[i]);
  return differing === -1 ? 0 : a[differing]! - b[differing]!;
}

/** Whether a caret allows the version: the parts up to the first part that is not 0 must be the same. */
function sameLeft(a: Parts, b: Parts): boolean {
  const first = b.findIndex((part) => part > 0);
  return b.slice(0, first + 1).every((part, i) => part === a[i]);
}
