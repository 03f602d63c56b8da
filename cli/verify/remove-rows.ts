/** Removes what a run of `verify` has made, over a connection of its own. */
import { setTimeout } from "node:timers/promises";
import { messageOf } from "../doctor/finding.js";
import { openPlace, type Place } from "./open-place.js";
import { within } from "./waits.js";

/** A statement of a process that was killed may still hold a table. */
const TRIES = 3;
/** How long a try may take, ms. */
const PATIENCE = 15_000;
/** The time between tries, ms. A server that restarts is back after some seconds. */
const PAUSE = 3000;

/** @returns why all tries have failed; `undefined` if the rows are gone. */
export async function removeRows(place: Place): Promise<string | undefined> {
  let why: string | undefined;
  for (let i = 0; i < TRIES; i++) {
    if (i > 0) await setTimeout(PAUSE);
    try {
      await within(PATIENCE, removeOnce(place));
      return undefined;
    } catch (error) {
      why = messageOf(error);
    }
  }
  return why;
}

async function removeOnce(place: Place): Promise<void> {
  const { rows, close } = await openPlace(place);
  try {
    await rows.remove();
  } finally {
    await close();
  }
}
