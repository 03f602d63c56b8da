#!/usr/bin/env node
/** The command `trpc-rate-limit`. */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { CliError } from "./cli-error.js";
import { init } from "./init/init.js";

const HELP = `trpc-rate-limit <command>

  init      adds the table and the limits to the application in this folder, and wires a T3 app
    --dry-run       shows the changes and writes nothing
    --yes, -y       does not ask

  --help, -h        shows this
  --version, -v     shows the version`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      "dry-run": { type: "boolean", default: false },
      yes: { type: "boolean", short: "y", default: false },
      help: { type: "boolean", short: "h", default: false },
      version: { type: "boolean", short: "v", default: false },
    },
  });
  const [command, ...rest] = positionals;
  const root = process.cwd();
  if (values.version) return (print(await version()), 0);
  if (values.help || command === undefined) return (print(HELP), values.help ? 0 : 1);
  if (rest.length > 0) throw new CliError(`too many arguments: ${rest.join(" ")}`);
  if (command === "init") {
    const { "dry-run": dryRun, yes } = values;
    await init({ root, version: await version(), dryRun, yes, print });
    return 0;
  }
  throw new CliError(`unknown command ${command}; see trpc-rate-limit --help`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function version(): Promise<string> {
  const text = await readFile(new URL("../../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** What `parseArgs` throws says what is wrong. */
function isExpected(error: unknown): error is Error {
  const code = (error as { code?: unknown }).code;
  return (
    error instanceof CliError || (typeof code === "string" && code.startsWith("ERR_PARSE_ARGS"))
  );
}

try {
  process.exitCode = await main();
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(`${isExpected(error) ? error.message : String((error as Error).stack)}\n`);
}
