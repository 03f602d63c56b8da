/** The fixtures: the documents that each version wrote and accepted, one folder of JSON per version. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { format } from "prettier";
import { readMigrations } from "../../example-app/shared/server/migrate.js";
import { memoryStore, type RateLimitStore } from "../../server/index.js";
import { read } from "./client-readings.js";
import {
  acceptedInputs,
  type ClientRequest,
  type InputSchema,
  requestsOfClient,
} from "./client-requests.js";
import { calculationsOf, histories, play, type RecordedHistory, rowsOf } from "./histories.js";
import { notificationsOfToday, type RecordedNotifications } from "./notifications.js";
import { documents } from "./server-documents.js";
import { type Shape, shapeOf } from "./shapes.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const FOLDER = fileURLToPath(new URL("fixtures/", import.meta.url));

export type Provider = "postgresql" | "mysql" | "sqlite";

/** A document that a server sent. */
export interface RecordedDocument {
  written: unknown;
  /** What the clients of that version rely on. */
  shape: Shape;
  /** What the client of that version made of it; absent where it makes nothing of it. */
  read?: unknown;
}

export interface Fixture {
  version: string;
  /** The statements that made the table. */
  tables: Record<Provider, string[]>;
  histories: RecordedHistory[];
  documents: Record<string, RecordedDocument>;
  requests: { sent: ClientRequest[]; accepted: Record<string, InputSchema> };
  notifications: RecordedNotifications;
}

const PARTS = ["tables", "histories", "documents", "requests", "notifications"] as const;

/** Every version that has a fixture. */
export function loadFixtures(folder = FOLDER): Fixture[] {
  return readdirSync(folder).map((version) => {
    const parts = PARTS.map((part) => {
      const text = readFileSync(join(folder, version, `${part}.json`), "utf8");
      return [part, JSON.parse(text)];
    });
    return { ...(Object.fromEntries(parts) as Omit<Fixture, "version">), version };
  });
}

/** What the code of today writes and accepts. */
export async function fixtureOfToday(version: string): Promise<Fixture> {
  const tables = {
    postgresql: await statementsIn("prisma/postgresql/migrations"),
    mysql: await statementsIn("prisma/mysql/migrations"),
    sqlite: await statementsIn("prisma/migrations"),
  };
  const recorded: RecordedHistory[] = [];
  for (const history of histories) {
    const store = memoryStore() as RateLimitStore;
    const { limits } = history;
    const results = await play(store, limits, history.steps);
    const rows = await rowsOf(store, limits);
    const laterResults = await play(store, limits, history.later);
    const calculations = calculationsOf(history, rows);
    recorded.push({ ...history, results, rows, laterResults, calculations });
  }
  const sent: Record<string, RecordedDocument> = {};
  for (const [title, write] of Object.entries(documents)) {
    const written = await write();
    const reading = read(written);
    sent[title] = {
      written,
      shape: shapeOf(written),
      ...(reading !== undefined && { read: reading }),
    };
  }
  return {
    version,
    tables,
    histories: recorded,
    documents: sent,
    requests: { sent: await requestsOfClient(), accepted: acceptedInputs() },
    notifications: await notificationsOfToday(),
  };
}

/**
 * Writes a fixture into a folder of its version.
 *
 * @throws Error if that version has one: what a released version wrote does not change.
 */
export async function saveFixture(fixture: Fixture, folder = FOLDER): Promise<void> {
  const target = join(folder, fixture.version);
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(fixture.version)) {
    throw new Error(`not a version: ${JSON.stringify(fixture.version)}`);
  }
  if (existsSync(target)) {
    throw new Error(
      `version ${fixture.version} has a fixture already. What a version wrote does not change.`,
    );
  }
  await mkdir(target, { recursive: true });
  for (const part of PARTS) {
    const text = await format(JSON.stringify(fixture[part]), { parser: "json", printWidth: 100 });
    await writeFile(join(target, `${part}.json`), text);
  }
}

async function statementsIn(folder: string): Promise<string[]> {
  const migrations = await readMigrations(join(ROOT, folder));
  return migrations.flatMap(({ statements }) => statements);
}
