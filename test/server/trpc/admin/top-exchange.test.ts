/** Processes tell each other of their keys when an operator asks, and believe no message too much. */
import { describe, expect, it } from "vitest";
import { DAY, memoryStore } from "../../../../server/index.js";
import { DecisionRecorder } from "../../../../server/trpc/admin/recorder.js";
import {
  MOST_ANSWERS,
  MOST_PROCESSES,
  topOfProcesses,
} from "../../../../server/trpc/admin/top-exchange.js";
import { openAdmin } from "../../../support/admin-caller.js";
import { localChannels } from "../../../support/local-channels.js";

const send = { kind: "token bucket", rate: 1, period: DAY } as const;
const limits = { send, other: send, counted: { ...send, usage: true } } as const;
const START = 20_000 * DAY;
const day = { from: START, to: START + DAY, by: "denied" } as const;

type Options = Parameters<typeof openAdmin>[2];

/** Processes with a channel, and a channel of an intruder. A process that asks waits for one tick. */
function open(count: number, options: Options = {}) {
  const { channels, sent } = localChannels(count + 1);
  const time = { now: START };
  const waits: (() => void)[] = [];
  const all = channels.slice(1).map((channel) =>
    openAdmin(memoryStore(), limits, {
      clock: () => time.now,
      channel,
      sleep: async () => {
        for (const run of waits.splice(0)) run();
      },
      ...options,
    }),
  );
  /** Runs while the next question waits for answers. */
  const whileAsked = (run: () => void) => void waits.push(run);
  return { all, intruder: channels[0]!, sent, time, whileAsked };
}

async function deny(
  { limiter }: ReturnType<typeof open>["all"][number],
  key: string,
  times: number,
  name: keyof typeof limits = "send",
) {
  for (let i = 0; i <= times; i++) await limiter.limit(name, { key });
}

describe("an operator who asks for the keys with the most", () => {
  it("gets those of all processes that listen, added up", async () => {
    const { all } = open(3);
    const [one, two, three] = all as [(typeof all)[0], (typeof all)[0], (typeof all)[0]];
    await deny(one, "ann", 2);
    await deny(two, "ann", 3);
    await deny(two, "bob", 4);
    await deny(three, "bob", 4, "other");
    expect(await one.admin.top({ ...day, name: "send" })).toEqual({
      now: START,
      items: [
        { name: "send", key: "ann", granted: 2, denied: 5, taken: 2, share: 5 / 9 },
        { name: "send", key: "bob", granted: 1, denied: 4, taken: 1, share: 4 / 9 },
      ],
      total: { granted: 3, denied: 9, taken: 3 },
      sources: [{ name: "send", source: "processes", since: START }],
    });
    const { items, sources } = await one.admin.top(day);
    expect(items).toHaveLength(3);
    expect(sources.map(({ source }) => source)).toEqual(["processes", "processes", "usage"]);
  });

  it("sends nothing before, and nothing about limits with usage", async () => {
    const { all, sent } = open(2);
    const [one, two] = all as [(typeof all)[0], (typeof all)[0]];
    await deny(one, "ann", 2);
    await deny(two, "ann", 2, "counted");
    await one.admin.top({ ...day, name: "counted" });
    expect(sent).toEqual([]);
    await one.admin.top(day);
    expect(sent).toHaveLength(2);
    expect(sent[0]).toMatchObject({ top: "ask", names: ["send", "other"] });
    expect(JSON.stringify(sent)).not.toMatch(/counted/);
  });

  it("learns from when on all numbers are complete", async () => {
    const time = { now: START };
    const { channels } = localChannels(2);
    const options = { clock: () => time.now, sleep: async () => {} };
    const old = openAdmin(memoryStore(), limits, { ...options, channel: channels[0]! });
    time.now += 1000;
    const young = openAdmin(memoryStore(), limits, { ...options, channel: channels[1]! });
    await deny(young, "ann", 1);
    time.now += 1000;
    const { sources } = await old.admin.top({ ...day, name: "send" });
    expect(sources).toEqual([{ name: "send", source: "processes", since: START + 1000 }]);
  });

  it("is told hashes where keys are hashed", async () => {
    const { all, sent } = open(2, { hashKey: (key: string) => `#${key}` });
    await deny(all[1]!, "ann", 2);
    const { items } = await all[0]!.admin.top({ ...day, name: "send" });
    expect(items).toMatchObject([{ key: "#ann" }]);
    expect(JSON.stringify(sent)).not.toContain('"ann"');
  });

  it("gets the most of each process, in messages that a channel can carry", async () => {
    const { all, sent } = open(2);
    // Three bytes a character, and six where JSON escapes it.
    const long = (i: number) =>
      `${String(i).padStart(3, "0")}${(i % 2 ? "漢" : "\u0001").repeat(180)}`;
    for (let i = 0; i < 90; i++) await deny(all[1]!, long(i), 1 + (i % 7));
    const { items, total } = await all[0]!.admin.top({ ...day, name: "send", count: 200 });
    const bytes = sent.map((message) => Buffer.byteLength(JSON.stringify(message)));
    expect(bytes).toHaveLength(5);
    expect(Math.max(...bytes)).toBeLessThan(7800);
    expect(Math.min(...bytes.slice(1))).toBeGreaterThan(5000);
    expect(items.length).toBeGreaterThan(20);
    expect(items.length).toBeLessThan(90);
    expect(items.every(({ denied }) => denied >= 5)).toBe(true);
    expect(total.denied).toBe(
      Array.from({ length: 90 }, (_, i) => 1 + (i % 7)).reduce((a, b) => a + b),
    );
  });
});

describe("a message that somebody has made up", () => {
  const tell = (id: string, more: object = {}) => ({
    top: "tell",
    id,
    who: "eve",
    since: START,
    limits: [["send", 1, 2, 3, [["mallory", 1, 2, 3]]]],
    ...more,
  });

  /** What an operator sees if the intruder sends these while the question is open. */
  async function shown(messagesOf: (id: string) => readonly unknown[]) {
    const { all, intruder, sent, whileAsked } = open(1);
    await deny(all[0]!, "ann", 2);
    whileAsked(() => {
      const { id } = sent[0] as { id: string };
      for (const message of messagesOf(id)) intruder.send(message);
    });
    return all[0]!.admin.top({ ...day, name: "send", count: 200 });
  }

  it("counts if it is as one of this package", async () => {
    const { items, total } = await shown((id) => [tell(id)]);
    expect(items.map(({ key, denied }) => [key, denied])).toEqual([
      ["ann", 2],
      ["mallory", 2],
    ]);
    expect(total.denied).toBe(4);
  });

  it.each<[string, (id: string) => unknown]>([
    ["nothing", () => null],
    ["a text", () => "tell"],
    ["a list", (id) => [tell(id)]],
    ["an answer to nobody", () => tell("x")],
    ["another kind", (id) => tell(id, { top: "toString" })],
    ["a further field", (id) => tell(id, { more: 1 })],
    ["no process", (id) => tell(id, { who: undefined })],
    ["a long name of a process", (id) => tell(id, { who: "e".repeat(17) })],
    ["an instant that is none", (id) => tell(id, { since: "now" })],
    [
      "a limit that was not asked for",
      (id) => tell(id, { limits: [["other", 1, 2, 3, [["m", 1, 2, 3]]]] }),
    ],
    ["a limit that there is not", (id) => tell(id, { limits: [["__proto__", 1, 2, 3, []]] })],
    ["a negative number", (id) => tell(id, { limits: [["send", 1, -2, 3, []]] })],
    ["a number beyond all", (id) => tell(id, { limits: [["send", 1, 1e300, 3, []]] })],
    ["a text for a number", (id) => tell(id, { limits: [["send", 1, "2", 3, []]] })],
    ["a key that is none", (id) => tell(id, { limits: [["send", 1, 2, 3, [[7, 1, 2, 3]]]] })],
    [
      "a key that is too long",
      (id) => tell(id, { limits: [["send", 1, 2, 3, [["k".repeat(192), 1, 2, 3]]]] }),
    ],
    ["a key with a NUL", (id) => tell(id, { limits: [["send", 1, 2, 3, [["\0", 1, 2, 3]]]] })],
    ["too few numbers", (id) => tell(id, { limits: [["send", 1, 2, 3, [["m", 1, 2]]]] })],
    ["too many numbers", (id) => tell(id, { limits: [["send", 1, 2, 3, [["m", 1, 2, 3, 4]]]] })],
    [
      "too many keys",
      (id) =>
        tell(id, {
          limits: [["send", 1, 2, 3, Array.from({ length: 1001 }, () => ["m", 1, 2, 3])]],
        }),
    ],
    ["a question without bounds", (id) => ({ top: "ask", id, by: "denied" })],
    ["a question of another order", (id) => ({ top: "ask", id, from: 0, to: 1, by: "__proto__" })],
  ])("counts nothing if it is %s", async (_, messageOf) => {
    const { items, total } = await shown((id) => [messageOf(id)]);
    expect(items).toMatchObject([{ key: "ann", denied: 2, share: 1 }]);
    expect(total).toEqual({ granted: 1, denied: 2, taken: 1 });
  });

  it("adds no limit that was not asked for", async () => {
    const { channels, sent } = localChannels(2);
    const recorder = new DecisionRecorder(["send"], () => START);
    const exchange = topOfProcesses(
      recorder,
      {
        channel: channels[0],
        toStoredKey: (key) => key,
        clock: () => START,
        async sleep() {
          const { id } = sent[0] as { id: string };
          channels[1]!.send(tell(id, { limits: [["other", 1, 2, 3, []]] }));
        },
      },
      ["send"],
    );
    const { byName } = await exchange.top(["send"], day);
    expect([...byName.keys()]).toEqual(["send"]);
  });

  it("makes no share above 1, and no instant that is still to come", async () => {
    const limitsOf = [["send", 0, 0, 0, [["mallory", 0, 2 ** 53, 0]]]];
    const { items, sources, now } = await shown((id) => [
      tell(id, { since: 8e15, limits: limitsOf }),
    ]);
    expect(items[0]).toMatchObject({ key: "mallory", share: 1 });
    expect(sources[0]!.since).toBe(now);
  });

  it("comes too late once the question is answered", async () => {
    const { all, intruder, sent } = open(1);
    await deny(all[0]!, "ann", 2);
    await all[0]!.admin.top({ ...day, name: "send" });
    intruder.send(tell((sent[0] as { id: string }).id));
    expect((await all[0]!.admin.top({ ...day, name: "send" })).items).toHaveLength(1);
  });

  it("is one of few: so many processes, and so many parts of each", async () => {
    const flood = (id: string) =>
      Array.from({ length: 1000 }, (_, i) => [
        tell(id, { who: `p${i}`, limits: [["send", 0, 1, 0, []]] }),
        tell(id, { who: "p0", limits: [["send", 0, 1, 0, []]] }),
      ]).flat();
    const { total } = await shown(flood);
    expect(total.denied).toBe(2 + MOST_PROCESSES + 3);
  });

  it("is answered so many times in a second, and no more", async () => {
    const { all, intruder, sent, time } = open(1);
    await deny(all[0]!, "ann", 2);
    const ask = { top: "ask", id: "1", from: 0, to: START + DAY, by: "denied" };
    const answers = () => sent.filter((each) => (each as { top: string }).top === "tell").length;
    for (let i = 0; i < 1000; i++) intruder.send(ask);
    expect(answers()).toBe(MOST_ANSWERS);
    time.now += 1000;
    intruder.send(ask);
    expect(answers()).toBe(MOST_ANSWERS + 1);
  });
});
