/** Makes the tables or keys of a run, proves that limits are exact in them, and removes them. */
import { type Finding, tried } from "../doctor/finding.js";
import { checkOwnTable } from "./check-database.js";
import { hideNames } from "./hide-names.js";
import { type OpenPlace, openPlace, type Place, tableOf } from "./open-place.js";
import type { OwnRows } from "./own-rows.js";
import { bucketsOf, startRacer } from "./racer.js";
import { removeRows } from "./remove-rows.js";
import { groupLine, raceLine } from "./report.js";
import type { Racer } from "./round.js";
import { type GroupResult, runContract } from "./run-contract.js";
import { type RaceResult, runRace } from "./run-race.js";
import { stillAnswers } from "./still-answers.js";
import type { VerifyOptions } from "./verify-options.js";
import { untilAborted } from "./waits.js";

export interface Proof {
  contract: GroupResult[];
  race: RaceResult[];
  isRemoved: boolean;
}

/** Makes the rows, proves, and removes the rows, whatever happens. */
export async function prove(
  options: VerifyOptions,
  place: Place,
  opened: OpenPlace,
  findings: Finding[],
): Promise<Proof> {
  const { signal, print, warn } = options;
  const { target, name } = place;
  print(`Uses ${target.kind === "sql" ? `the tables ${name} and ${name}Override` : name}.`);
  const peer = await untilAborted(signal, openPlace(place));
  const race = new AbortController();
  const starting: Promise<Racer>[] = [];
  let isRemoved = false;
  let results: Pick<Proof, "contract" | "race">;
  try {
    await untilAborted(signal, opened.rows.make());
    if (target.kind === "sql") {
      const { connection } = opened.database!;
      const check = () => checkOwnTable(target.url, connection, tableOf(place));
      findings.push(...(await untilAborted(signal, tried("table", check))));
    }
    const start = () => {
      const racer = startRacer(options.program, place, race.signal);
      starting.push(racer);
      return racer;
    };
    results = await untilAborted(signal, runAll(options, place, opened, peer, start));
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

async function runAll(
  { signal, print }: VerifyOptions,
  place: Place,
  opened: OpenPlace,
  peer: OpenPlace,
  start: () => Promise<Racer>,
): Promise<Pick<Proof, "contract" | "race">> {
  const { rows, openStore } = opened;
  const show = (line: string) => print(hideNames(line, place.target));
  const onFailure = () => stillAnswers(place);
  let tests = 0;
  const contract = await runContract({
    async open() {
      await rows.empty();
      const part = `${tests++}:`;
      return { store: openStore(part), peer: peer.openStore(part), close: async () => {} };
    },
    onGroup: (result) => show(groupLine(result)),
    onFailure,
    signal,
  });
  await rows.empty();
  const race = await runRace({
    startRacer: start,
    valueOf: bucketsOf(openStore()).valueOf,
    onResult: (result) => show(raceLine(result)),
    onFailure,
    signal,
  });
  return { contract, race };
}

export function hasHeld({ contract, race, isRemoved }: Proof): boolean {
  const isKept = contract.every(({ failed }) => failed.length === 0);
  return isKept && race.every(({ problems }) => problems.length === 0) && isRemoved;
}
