/** Runs `doctor` with this repository's drivers. */
import { fileURLToPath } from "node:url";
import { doctor, type DoctorOptions } from "../../cli/doctor/doctor.js";
import type { Finding } from "../../cli/doctor/finding.js";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** @param url of a database */
export function runDoctor(url: string, options: Partial<DoctorOptions> = {}): Promise<Finding[]> {
  return doctor({ root: ROOT, url, table: "RateLimit", peers: {}, ...options });
}

/**
 * The findings that are not ok, as `level check`. Leaves out the server's connections, which other tests
 * open and close meanwhile, and the benchmarks' measurement of Prisma without a pool.
 */
export function faultsOf(findings: readonly Finding[]): string[] {
  return findings
    .filter(({ level, check }) => level !== "ok" && !OF_REPOSITORY.has(check))
    .map(({ level, check }) => `${level} ${check}`);
}

const OF_REPOSITORY = new Set(["connections", "prisma-pool"]);

export function findingOf(findings: readonly Finding[], check: string): Finding {
  const found = findings.find((finding) => finding.check === check);
  if (found === undefined) throw new Error(`no finding ${check} in ${JSON.stringify(findings)}`);
  return found;
}
