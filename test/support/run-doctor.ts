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
 * The findings that are not ok, as `level check`. Not those about the server's connections, which
 * other tests open and close meanwhile.
 */
export function faultsOf(findings: readonly Finding[]): string[] {
  return findings
    .filter(({ level, check }) => level !== "ok" && check !== "connections")
    .map(({ level, check }) => `${level} ${check}`);
}

export function findingOf(findings: readonly Finding[], check: string): Finding {
  const found = findings.find((finding) => finding.check === check);
  if (found === undefined) throw new Error(`no finding ${check} in ${JSON.stringify(findings)}`);
  return found;
}
