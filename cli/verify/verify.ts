/**
 * `trpc-rate-limit verify`: proves on a database that limits are exact there. Runs the contract of stores
 * and a race of processes, in tables or keys of its own, and removes them.
 */
import { randomBytes } from "node:crypto";
import { confirm, isCancel } from "@clack/prompts";
import { CliError } from "../cli-error.js";
import { NoDriverError, NoFileError } from "../doctor/connect.js";
import { type Finding, messageOf, tried } from "../doctor/finding.js";
import { versionOf } from "../doctor/load-package.js";
import { placesOf } from "../doctor/places.js";
import { checkDatabase, checkOwnTable, keepsPrepared, readSettings } from "./check-database.js";
import { checkRedis } from "./check-redis.js";
import { findTarget, shownOf, type Target } from "./find-target.js";
import { hideNames, vendorOf } from "./hide-names.js";
import { type OpenPlace, openPlace, type Place, tableOf } from "./open-place.js";
import type { OwnRows } from "./own-rows.js";
import { bucketsOf, startRacer } from "./racer.js";
import { removeRows } from "./remove-rows.js";
import { findingLine, groupLine, raceLine, type VerifyReport } from "./report.js";
import type { Racer } from "./round.js";
import { type GroupResult, runContract } from "./run-contract.js";
import { type RaceResult, runRace } from "./run-race.js";

export interface VerifyOptions {
  /** The application's folder. */
  root: string;
  /** The URL of the database. @default `DATABASE_URL` */
  url?: string | undefined;
  /** Does not ask. */
  yes: boolean;
  /** The version of this package. */
  version: string;
  /** The file of the command, which the processes of the race run. */
  program: string;
  /** Stops, and removes what was made. */
  signal: AbortSignal;
  /** Shows progress. */
  print: (text: string) => void;
  /** Shows what the user has to do. */
  warn: (text: string) => void;
}

/**
 * @returns `undefined` if the user does not agree.
 * @throws CliError when the run cannot begin.
 * @throws the reason of `signal`, once everything is removed.
 */
export async function verify(options: VerifyOptions): Promise<VerifyReport | undefined> {
  const { root, url, yes, signal, print } = options;
  const target = await findTarget(root, url);
  if (!yes && !(await isAgreed(target))) return undefined;
  const { installed } = await placesOf(root);
  const id = randomBytes(5).toString("hex");
  const name = target.kind === "redis" ? `rate-limit-verify:${id}:` : `RateLimitVerify${id}`;
  const place: Place = { installed, target, name, prepare: true };
  const opened = await openPlace(place).catch((error: unknown) => {
    throw unopened(target, error);
  });
  try {
    const { engine, settings, findings } = await factsOf(target, opened);
    signal.throwIfAborted();
    let proof: Proof = { contract: [], race: [], isRemoved: true };
    if (!hasErrors(findings)) {
      place.prepare = keepsPrepared(findings);
      proof = await prove(options, place, opened, findings);
    }
    for (const finding of hideNames(findings, target)) print(findingLine(finding));
    const { driver } = opened;
    const versions = {
      package: options.version,
      node: process.version,
      platform: `${process.platform} ${process.arch}`,
      driver: [driver, await versionIn(installed, driver)].filter(Boolean).join(" "),
      engine,
      vendor: vendorOf(target),
    };
    const held = !hasErrors(findings) && hasHeld(proof);
    return hideNames({ held, versions, settings, ...proof, findings }, target);
  } finally {
    await opened.close();
  }
}

function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some(({ level }) => level === "error");
}

function hasHeld({ contract, race, isRemoved }: Proof): boolean {
  const isKept = contract.every(({ failed }) => failed.length === 0);
  return isKept && race.every(({ problems }) => problems.length === 0) && isRemoved;
}

async function versionIn(folders: readonly string[], driver: string): Promise<string | undefined> {
  for (const folder of folders) {
    const version = await versionOf(folder, driver);
    if (version !== undefined) return version;
  }
  return undefined;
}

interface Proof {
  contract: GroupResult[];
  race: RaceResult[];
  isRemoved: boolean;
}

/** Makes the rows, proves, and removes the rows, whatever happens. */
async function prove(
  options: VerifyOptions,
  place: Place,
  opened: OpenPlace,
  findings: Finding[],
): Promise<Proof> {
  const { signal, print, warn } = options;
  const { target, name } = place;
  print(`Uses ${target.kind === "sql" ? `the tables ${name} and ${name}Override` : name}.`);
  const peer = await openPlace(place);
  const race = new AbortController();
  const starting: Promise<Racer>[] = [];
  let isRemoved = false;
  let results: Pick<Proof, "contract" | "race">;
  try {
    await opened.rows.make();
    if (target.kind === "sql") {
      const { connection } = opened.database!;
      const check = () => checkOwnTable(target.url, connection, tableOf(place));
      findings.push(...(await tried("table", check)));
    }
    const start = () => {
      const racer = startRacer(options.program, place, race.signal);
      starting.push(racer);
      return racer;
    };
    results = await untilAborted(signal, runAll(options, target, opened, peer, start));
  } finally {
    race.abort();
    await Promise.allSettled(starting.map(async (racer) => (await racer).kill()));
    await Promise.all([peer.close(), opened.close()]);
    isRemoved = await isGone(place, opened.rows, warn);
  }
  return { ...results, isRemoved };
}

/** Removes the rows. If that fails, tells the user how to. */
async function isGone(place: Place, rows: OwnRows, warn: VerifyOptions["warn"]): Promise<boolean> {
  const why = await removeRows(place);
  if (why === undefined) return true;
  // Who may not make tables may not drop them, either.
  if (!rows.isMade() && /denied|permission/i.test(why)) return true;
  warn(`What this run has made could not be removed (${why}). Run this:\n\n${rows.byHand}`);
  return false;
}

/** Rejects as soon as `signal` aborts. What `work` does later is not waited for. */
async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  work.catch(() => {});
  const aborted = new Promise<never>((_, reject) => {
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  return Promise.race([work, aborted]);
}

async function runAll(
  { signal, print }: VerifyOptions,
  target: Target,
  opened: OpenPlace,
  peer: OpenPlace,
  start: () => Promise<Racer>,
): Promise<Pick<Proof, "contract" | "race">> {
  const { rows, openStore } = opened;
  const show = (line: string) => print(hideNames(line, target));
  const contract = await runContract({
    async open() {
      await rows.empty();
      return { store: openStore(), peer: peer.openStore(), close: async () => {} };
    },
    onGroup: (result) => show(groupLine(result)),
    signal,
  });
  await rows.empty();
  const race = await runRace({
    startRacer: start,
    valueOf: bucketsOf(openStore()).valueOf,
    onResult: (result) => show(raceLine(result)),
    signal,
  });
  return { contract, race };
}

interface Facts {
  /** What the server reports as its version. */
  engine: string;
  settings: Record<string, string>;
  findings: Finding[];
}

async function factsOf(target: Target, { database, send }: OpenPlace): Promise<Facts> {
  try {
    if (target.kind === "redis") return await checkRedis(send!);
    const findings = await checkDatabase(database!, target.url);
    const engine = findings.find(({ check }) => check === "engine")!;
    const settings = await readSettings(target.url, database!.connection);
    const name = target.url.dialect === "sqlite" ? "SQLite " : "";
    return { engine: name + engine.message, settings, findings };
  } catch (error) {
    throw unreachable(target, error);
  }
}

function unopened(target: Target, error: unknown): CliError {
  if (error instanceof NoDriverError) return new CliError(`${error.message}; ${error.install}`);
  if (error instanceof NoFileError) return new CliError(`${error.message}; ${error.advice}`);
  return error instanceof CliError ? error : unreachable(target, error);
}

function unreachable(target: Target, error: unknown): CliError {
  return new CliError(`cannot connect to ${shownOf(target)}: ${messageOf(error)}`);
}

/** @throws CliError when there is no terminal on which to ask. */
async function isAgreed(target: Target): Promise<boolean> {
  const what = target.kind === "redis" ? "keys" : "two tables";
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new CliError(
      `verify makes ${what} of its own in ${shownOf(target)}, and removes them. This is not a ` +
        "terminal, so it cannot ask. Run it with --yes",
    );
  }
  const answer = await confirm({
    message: `Make ${what} with random names in ${shownOf(target)}, for about a minute, and remove them?`,
  });
  return !isCancel(answer) && answer;
}
