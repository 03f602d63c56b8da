/** The options of `npm run demo -- …`. Environment variables stand for options that are left out. */
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";

export interface Options {
  /** 0: any free port. */
  port: number;
  /** How many processes serve the page, on one port and one database. */
  processes: number;
  /** `file:…`, `postgresql://…` or `mysql://…`. */
  databaseUrl: string;
  /** Whether only this machine reaches the demo. */
  isLocal: boolean;
}

const DEFAULT_FILE = fileURLToPath(new URL("../../demo.db", import.meta.url));

/** @throws with a message for the person who typed the command. */
export function readOptions(
  args: readonly string[] = process.argv.slice(2),
  env: NodeJS.ProcessEnv = process.env,
): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: "string", default: env["PORT"] ?? "3000" },
      processes: { type: "string", default: "1" },
      postgres: { type: "string" },
      mysql: { type: "string" },
      local: { type: "boolean", default: false },
    },
  });
  const { postgres, mysql } = values;
  if (postgres !== undefined && mysql !== undefined) {
    throw new Error("--postgres and --mysql exclude each other");
  }
  return {
    port: wholeNumber("--port", values.port, 0, 65_535),
    processes: wholeNumber("--processes", values.processes, 1, 16),
    databaseUrl: postgres ?? mysql ?? env["DATABASE_URL"] ?? `file:${DEFAULT_FILE}`,
    isLocal: values.local,
  };
}

function wholeNumber(option: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`${option} must be a whole number from ${least} to ${most}, got ${text}`);
}

/** The message for a person who chose a port that another program has. */
export function portIsTaken(port: number): string {
  // Without the two dashes in the middle, npm takes the option for an option of its own.
  const command = `npm run demo -- --port ${port < 65_535 ? port + 1 : 0}`;
  return `Port ${port} is taken; choose another with: ${command}`;
}
