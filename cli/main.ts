#!/usr/bin/env node
/** The command `trpc-rate-limit`. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { CliError } from "./cli-error.js";
import { hasErrors } from "./doctor/finding.js";
import { RACER } from "./verify/verify-options.js";

const HELP = `trpc-rate-limit <command>

  init      adds the table and the limits to the application in this folder, wires its tRPC, installs
            the package, and prints the next steps
    --dry-run       shows the changes and writes nothing
    --yes, -y       does not ask
    --no-check      does not compile the application to find wrong changes
    --no-install    leaves the installation to you

  doctor    looks for what keeps limits from working, and says what to do
    --url URL       of the database; otherwise DATABASE_URL, from the environment or .env
    --table NAME    otherwise what the schema of the application says, or RateLimit
    --schema NAME   of the database
    --app URL       of tRPC or of the limits, such as http://localhost:3000/api/limits: checks live updates
    --limit NAME    the limit to watch for that; otherwise those in the sources
    --header LINE   to send to the application, such as "cookie: ..."; can be repeated
    --json          prints the findings as JSON

  verify    proves that limits are exact on a database: runs the contract of stores and a race of
            processes, in tables or keys of its own, which it removes
    --url URL       of PostgreSQL, MySQL, MariaDB, SQLite, libsql or Redis; otherwise DATABASE_URL
    --yes, -y       does not ask
    --json          prints the report as JSON

  --help, -h        shows this
  --version, -v     shows the version`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      "dry-run": { type: "boolean", default: false },
      url: { type: "string" },
      table: { type: "string" },
      schema: { type: "string" },
      app: { type: "string" },
      limit: { type: "string" },
      header: { type: "string", multiple: true, default: [] },
      json: { type: "boolean", default: false },
      "no-check": { type: "boolean", default: false },
      "no-install": { type: "boolean", default: false },
      yes: { type: "boolean", short: "y", default: false },
      help: { type: "boolean", short: "h", default: false },
      version: { type: "boolean", short: "v", default: false },
    },
  });
  const [command, ...rest] = positionals;
  const root = process.cwd();
  const { version, peerDependencies: peers } = await readPackage();
  if (values.version) return (print(version), 0);
  if (values.help || command === undefined) return (print(HELP), values.help ? 0 : 1);
  if (rest.length > 0) {
    // The message leaves the arguments out: a part of a --header without quotes can be a secret.
    throw new CliError(
      `there are ${rest.length + 1} arguments in the place of one; put the values of options into quotes`,
    );
  }
  if (command === "init") {
    const { "dry-run": dryRun, "no-check": noCheck, "no-install": noInstall, yes } = values;
    const { init } = await import("./init/init.js");
    await init({ root, version, dryRun, yes, check: !noCheck, install: !noInstall, print });
    return 0;
  }
  if (command === "doctor") {
    const { url, table, schema, app, limit, header: headers, json } = values;
    const { doctor } = await import("./doctor/doctor.js");
    const { textOf } = await import("./doctor/print-findings.js");
    const findings = await doctor({ root, url, table, schema, app, limit, headers, peers });
    print(json ? JSON.stringify(findings, undefined, 2) : textOf(findings, process.stdout.isTTY));
    return hasErrors(findings) ? 1 : 0;
  }
  if (command === "verify") {
    const { url, yes, json } = values;
    const { verify } = await import("./verify/verify.js");
    const { markdownOf } = await import("./verify/report.js");
    const stop = stopped();
    const progress = json ? () => {} : print;
    const program = fileURLToPath(import.meta.url);
    const options = { root, url, yes, version, program, signal: stop, print: progress, warn };
    const report = await verify(options).finally(exitSoon);
    if (report === undefined) return (print("Nothing was made."), 1);
    if (json) print(JSON.stringify(report, undefined, 2));
    else print(`\nTo paste into an issue:\n\n${markdownOf(report)}`);
    return report.held ? 0 : 1;
  }
  if (command === RACER && process.send !== undefined) {
    const { runRacer } = await import("./verify/racer.js");
    await runRacer();
    return 0;
  }
  throw new CliError("unknown command; use init, doctor or verify, and see trpc-rate-limit --help");
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function warn(text: string): void {
  process.stderr.write(`${text}\n`);
}

/**
 * Aborts when the user or the system stops the command, which then removes what it has made. Stopped once
 * more, the command ends at once.
 */
function stopped(): AbortSignal {
  const controller = new AbortController();
  let since = 0;
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      // One Ctrl-C may arrive twice: from the terminal, and from npx.
      if (controller.signal.aborted && performance.now() - since > 1000) {
        warn("stopped before everything was removed; the next run says what is left");
        process.exit(1);
      }
      if (!controller.signal.aborted) since = performance.now();
      controller.abort(new CliError(`stopped by ${name}`));
    });
  }
  return controller.signal;
}

/** A connection to a server that does not answer would keep the process alive. */
function exitSoon(): void {
  setTimeout(() => process.exit(), 1000).unref();
}

interface PackageJson {
  version: string;
  peerDependencies: Record<string, string>;
}

async function readPackage(): Promise<PackageJson> {
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  return JSON.parse(text) as PackageJson;
}

/** Whether the message alone tells the user what is wrong, as for errors of `parseArgs`. */
function isExpected(error: unknown): error is Error {
  const code = (error as { code?: unknown }).code;
  return (
    error instanceof CliError || (typeof code === "string" && code.startsWith("ERR_PARSE_ARGS"))
  );
}

// A reader such as `head` closes the pipe when it has enough. `init` must not stop in the middle of its
// writes.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

try {
  process.exitCode = await main();
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(`${isExpected(error) ? error.message : String((error as Error).stack)}\n`);
}
