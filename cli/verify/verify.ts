/**
 * `trpc-rate-limit verify`: proves on a database that limits are exact there. Runs the contract of stores
 * and a race of processes, in tables or keys of its own, and removes them.
 */
import { randomBytes } from "node:crypto";
import { ask } from "../ask.js";
import { CliError } from "../cli-error.js";
import { NoDriverError, NoFileError } from "../doctor/connect.js";
import { hasErrors, messageOf } from "../doctor/finding.js";
import { versionOf } from "../doctor/load-package.js";
import { placesOf } from "../doctor/places.js";
import { checkDatabase } from "./check-database.js";
import { checkRedis } from "./check-redis.js";
import { findTarget, shownOf, type Target } from "./find-target.js";
import { hideNames, vendorOf } from "./hide-names.js";
import { type OpenPlace, openPlace, type Place } from "./open-place.js";
import { PREFIX, TABLE } from "./own-rows.js";
import { hasHeld, type Proof, prove } from "./prove.js";
import { findingLine, type VerifyReport } from "./report.js";
import type { ServerFacts } from "./server-facts.js";
import type { VerifyOptions } from "./verify-options.js";
import { untilAborted } from "./waits.js";

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
  const name = target.kind === "redis" ? `${PREFIX}${id}:` : `${TABLE}${id}`;
  const place: Place = { installed, target, name, prepare: true };
  const opening = openPlace(place).catch((error: unknown) => {
    throw unopened(target, error);
  });
  const opened = await untilAborted(signal, opening);
  try {
    const facts = await untilAborted(signal, factsOf(target, opened));
    const { engine, settings, findings, keepsPrepared = true } = facts;
    let proof: Proof = { contract: [], race: [], isRemoved: true };
    if (!hasErrors(findings)) {
      place.prepare = keepsPrepared;
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
    // A host may be called mysql, as the driver is.
    return { held, versions, settings, ...hideNames({ ...proof, findings }, target) };
  } finally {
    await opened.close();
  }
}

async function versionIn(folders: readonly string[], driver: string): Promise<string | undefined> {
  for (const folder of folders) {
    const version = await versionOf(folder, driver);
    if (version !== undefined) return version;
  }
  return undefined;
}

async function factsOf(target: Target, { database, send }: OpenPlace): Promise<ServerFacts> {
  try {
    return target.kind === "redis"
      ? await checkRedis(send!)
      : await checkDatabase(database!, target.url);
  } catch (error) {
    throw unopened(target, error);
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

function isAgreed(target: Target): Promise<boolean> {
  const what = target.kind === "redis" ? "keys" : "two tables";
  return ask(
    `Make ${what} with random names in ${shownOf(target)}, for about a minute, and remove them?`,
    `verify makes ${what} of its own in ${shownOf(target)}, and removes them. This is not a ` +
      "terminal, so it cannot ask. Run it with --yes",
  );
}
