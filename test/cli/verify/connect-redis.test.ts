/** Redis that does not let `verify` in, is silent, or is a cluster. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkRedis } from "../../../cli/verify/check-redis.js";
import { connectRedis } from "../../../cli/verify/connect-redis.js";
import { pagesOf, unlinkCommand } from "../../../cli/verify/own-rows.js";
import { missingForRedis, type RedisServer, startRedis } from "../../redis/redis-server.js";
import { ROOT } from "../../support/run-doctor.js";

const connect = (url: string) => connectRedis([ROOT], url);

describe.skipIf(missingForRedis() !== undefined)("Redis as verify finds it", () => {
  let server: RedisServer;
  let url: string;
  beforeAll(async () => {
    server = await startRedis();
    await server.run("ACL", "SETUSER", "ann", "on", ">Zq8x", "~*", "+@all");
    url = `127.0.0.1:${server.port}`;
  });
  afterAll(() => server.stop());

  it.each([
    ["a wrong password", "redis://ann:other@", "", /WRONGPASS/],
    ["a database that is not there", "redis://ann:Zq8x@", "/99", /DB index is out of range/],
  ])("says why it refuses %s", async (_, start, end, why) => {
    await expect(connect(start + url + end)).rejects.toThrow(why);
  });

  it("does not wait for a silent server", async () => {
    const { send, close } = await connect(`redis://${url}`);
    server.freeze();
    try {
      await expect(send(["PING"])).rejects.toThrow("took longer than 5 s");
      await expect(connect(`redis://${url}`)).rejects.toThrow(/took longer|timed/i);
    } finally {
      server.thaw();
      close();
    }
  });

  it("finds the keys of a run that was killed, and the command removes them", async () => {
    const { send, close } = await connect(`redis://${url}`);
    try {
      for (const key of ["rate-limit-verify:0123:a\u0000b c'\n", "app"])
        await send(["SET", key, "1"]);
      const { findings } = await checkRedis(send);
      expect(findings.find(({ check }) => check === "left")!.message).toContain(
        "keys of verify (1)",
      );
      const command = unlinkCommand("rate-limit-verify:");
      await promisify(execFile)("sh", [
        "-c",
        command.replace("redis-cli", `redis-cli -p ${server.port}`),
      ]);
      const names: string[] = [];
      for await (const page of pagesOf(send, "")) names.push(...page);
      expect(names).toEqual(["app"]);
    } finally {
      close();
    }
  });

  it("does not run on a node of a cluster", async () => {
    const node = await startRedis({ "cluster-enabled": "yes" });
    try {
      const { send, close } = await connect(`redis://127.0.0.1:${node.port}`);
      await expect(checkRedis(send)).rejects.toThrow("verify runs on a single server only");
      close();
    } finally {
      await node.stop();
    }
  });
});
