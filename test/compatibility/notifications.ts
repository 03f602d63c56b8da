/** The notifications that processes of one deployment send each other through `postgresChannel`. */
import {
  changeDigest,
  postgresChannel,
  type PostgresClientLike,
  type PostgresNotification,
} from "../../server/index.js";

export interface RecordedNotifications {
  /** By which bucket: two versions have to agree on them. */
  digests: { name: string; key?: string; digest: string }[];
  /** The channel that a process listens to by default, and what it sends there. */
  channel: string;
  payload: string;
  /** A pattern. Listeners of that version ignore digests of another form. */
  digestForm: string;
}

const BUCKETS = [{ name: "send" }, { name: "send", key: "ada" }, { name: "né", key: "é 🙂" }];

export function digestsOf(buckets: readonly { name: string; key?: string }[]) {
  return buckets.map(({ name, key }) => ({
    name,
    ...(key !== undefined && { key }),
    digest: changeDigest(name, key),
  }));
}

/** Publishes the digests, and keeps what was sent. The fixture needs no server. */
export async function notificationsOfToday(): Promise<RecordedNotifications> {
  const digests = digestsOf(BUCKETS);
  const sent: unknown[][] = [];
  let publish = () => {};
  const published = new Promise<void>((resolve) => (publish = resolve));
  const client: PostgresClientLike = {
    connect: async () => {},
    async query(_text, values = []) {
      if (values.length > 0) sent.push(values);
      if (String(values[1]).includes(digests[0]!.digest)) publish();
    },
    end: async () => {},
    on: (_event: string, _listener: (message: PostgresNotification & Error) => void) => {},
  };
  const channel = postgresChannel(() => client, { logger: false });
  for (const { digest } of digests) void channel.publish(digest);
  await published;
  await channel.close();
  const [name, payload] = sent.at(-1)!;
  const digestForm = "^[0-9a-z]{1,11}$";
  return { digests, channel: String(name), payload: String(payload), digestForm };
}
