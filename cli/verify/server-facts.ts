/** What the checks of a server find, before anything is made there. */
import type { Finding } from "../doctor/finding.js";

export interface ServerFacts {
  /** What the server reports as its version. */
  engine: string;
  /** The settings that decide what a limit may promise. None, if the user may not read them. */
  settings: Record<string, string>;
  findings: Finding[];
  /** Whether connections keep prepared statements between transactions. @default true */
  keepsPrepared?: boolean;
}
