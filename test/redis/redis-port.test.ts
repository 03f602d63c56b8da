/**
 * The work of every client for the store: send commands to the right master, report errors by their code,
 * and report correctly what a lost connection means.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { redisPort } from "../../server/redis/clients/recognize-client.js";
import { keySlot } from "../../server/redis/key-slot.js";
import type { RedisPort } from "../../server/redis/redis-port.js";
import { startFaultProxy } from "./fault-proxy.js";
import {
  hasRedisClients,
  NO_REDIS_CLIENTS,
  testedClients,
  type TestedClient,
} from "./redis-clients.js";
import { type RedisCluster, startCluster } from "./redis-cluster.js";
import { missingForRedis, type RedisServer, startRedis } from "./redis-server.js";

const missing = missingForRedis() ?? (hasRedisClients ? undefined : NO_REDIS_CLIENTS);

describe.runIf(missing !== undefined)("clients of Redis", () => {
  it("carry the commands of the store", ({ skip }) => skip(missing));
});

describe.skipIf(missing !== undefined)("redisPort", () => {
  let server: RedisServer;
  let cluster: RedisCluster;
  beforeAll(async () => {
    [server, cluster] = await Promise.all([startRedis(), startCluster()]);
  });
  afterAll(() => Promise.all([server.stop(), cluster.stop()]));

  const portsOf = ({ isCluster }: TestedClient) => (isCluster ? cluster.ports : [server.port]);

  async function withPort(
    tested: TestedClient,
    use: (port: RedisPort) => Promise<void>,
    options = {},
  ): Promise<void> {
    const { client, close } = await tested.open(portsOf(tested), options);
    try {
      await use(redisPort(client));
    } finally {
      await close();
    }
  }

  /** A key in each part of the slots. */
  const keys = ["{a}1", "{b}2", "{c}3"];

  describe.each(testedClients)("on $name", (tested) => {
    it("sends each command to the master of its key, and replies with text and numbers", () =>
      withPort(tested, async (port) => {
        expect(port.isCluster).toBe(tested.isCluster);
        for (const key of keys) {
          const script = "redis.call('SET', KEYS[1], ARGV[1]) return {KEYS[1], ARGV[1], 7, false}";
          const value = `${tested.name} é\0 1`;
          expect(await port.send(["EVAL", script, "1", key, value], key)).toEqual([
            key,
            value,
            7,
            null,
          ]);
          expect(await port.send(["TIME"], key)).toHaveLength(2);
        }
      }));

    it("sends what has no key to the master of the routing key", () =>
      withPort(tested, async (port) => {
        for (const key of keys) {
          const info = String(await port.send(["INFO", "server"], key));
          const node = tested.isCluster ? await cluster.masterOf(keySlot(key)) : server;
          expect(info).toContain(`tcp_port:${node.port}\r`);
        }
      }));

    it("rejects with the code of the server's error first", () =>
      withPort(tested, async (port) => {
        const key = keys[0]!;
        const unknownScript = port.send(["EVALSHA", "0".repeat(40), "1", key], key);
        await expect(unknownScript).rejects.toThrow(/^NOSCRIPT /);
        const own = port.send(["EVAL", "return redis.error_reply('OWN reason')", "1", key], key);
        await expect(own).rejects.toThrow(/^OWN reason/);
        await expect(port.send(["HSET", key], key)).rejects.toThrow(/^ERR wrong number/);
      }));

    it("lists every master once", () =>
      withPort(tested, async (port) => {
        const masters = await port.masters();
        const infos = await Promise.all(
          masters.map(async (master) => String(await master.send(["INFO"], undefined))),
        );
        const ids = new Set(infos.map((info) => /run_id:(\w+)/.exec(info)?.[1]));
        expect(infos.every((info) => info.includes("role:master"))).toBe(true);
        expect(ids.size).toBe(tested.isCluster ? 3 : 1);
        expect(masters).toHaveLength(ids.size);
      }));

    it("knows how many replicas have a write", () =>
      withPort(tested, async ({ sendAndWait }) => {
        for (const key of keys) {
          const write = ["EVAL", "return redis.call('INCR', KEYS[1])", "1", `${key}n`];
          await server.run("DEL", `${key}n`);
          const { reply, acknowledged } = await sendAndWait!(write, key, {
            replicas: 1,
            timeout: tested.isCluster ? 5000 : 20,
          });
          expect(reply).toBeTypeOf("number");
          expect(acknowledged).toBe(tested.isCluster ? 1 : 0);
        }
        const key = keys[0]!;
        const unknown = sendAndWait!(["EVALSHA", "0".repeat(40), "1", key], key, {
          replicas: 1,
          timeout: 20,
        });
        await expect(unknown).rejects.toThrow(/^NOSCRIPT /);
      }));
  });

  const singles = testedClients.filter(({ isCluster }) => !isCluster);
  const withoutRetries = singles.filter(({ name }) => name.startsWith("io"));
  it.each([
    ...singles.map((tested) => ({ ...tested, options: {} })),
    ...withoutRetries.map((tested) => ({ ...tested, options: { maxRetriesPerRequest: 0 } })),
  ])(
    "$name with $options sends a command again after a lost answer only if its port says so",
    async (tested) => {
      const proxy = await startFaultProxy(() => server.port);
      const { client, close } = await tested.open([proxy.port], tested.options);
      try {
        const port = redisPort(client);
        if ("maxRetriesPerRequest" in tested.options) expect(port.resends).toBe(false);
        let sentAgain = 0;
        for (let i = 0; i < 3; i++) {
          const key = `count:${tested.name}:${Object.keys(tested.options).join()}:${i}`;
          while ((await port.send(["PING"], undefined).catch(() => undefined)) === undefined);
          proxy.loseAnswers();
          const increment = ["EVAL", "return redis.call('INCR', KEYS[1])", "1", key];
          const sent = port.send(increment, key).catch(() => undefined);
          while ((await server.run("EXISTS", key)) !== 1);
          proxy.disconnect();
          await sent;
          sentAgain += Number(await server.run("GET", key)) - 1;
        }
        expect(sentAgain).toBe(port.resends ? 3 : 0);
      } finally {
        await close();
        await proxy.close();
      }
    },
  );
});
