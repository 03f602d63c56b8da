/** The guide's mails, against a service that fails at first, and refuses to send a mail twice. */
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { MINUTE } from "../../server/index.js";
import { importBlock } from "../support/docs-module.js";
import { clock, limiter } from "../support/warned-limiter.js";

const LIMITER = join(import.meta.dirname, "../support/warned-limiter.ts");

/** A busy machine may need longer than the second that is the default. */
const WAIT = { timeout: 10_000 };

it("sends a mail at 80 % and one at 100 %, each of them once", async () => {
  const sent = new Map<string, string>();
  let tries = 0;
  const service = createServer((request, response) => {
    void request.toArray().then((chunks: Buffer[]) => {
      const id = String(request.headers["idempotency-key"]);
      const { subject, text } = JSON.parse(Buffer.concat(chunks).toString()) as Record<
        string,
        string
      >;
      const isDown = ++tries === 1;
      if (!isDown && !sent.has(id)) sent.set(id, `${subject} ${text}`);
      response.writeHead(isDown ? 503 : 200).end();
    });
  }).listen(0);
  onTestFinished(() => void service.close());
  await once(service, "listening");
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  await importBlock("docs/guides/warnings.md", "server/mail.ts", (code) =>
    code
      .replace('"./limits.js"', JSON.stringify(LIMITER))
      .replace("https://api.resend.com/emails", url),
  );
  const key = "ann@example.com";
  for (let call = 0; call < 40; call++) await limiter.limit("pictures", { key, count: 10 });
  await vi.waitUntil(() => tries === 1, WAIT);
  clock.advance(MINUTE);
  await limiter.limit("pictures", { key, count: 100 });
  await vi.waitUntil(() => sent.size === 2, WAIT);
  expect([...sent.values()].toSorted()).toEqual([
    "80 % of your pictures are used You have used 400 of 500.",
    "All pictures are used You have used 500 of 500.",
  ]);
  await vi.waitUntil(async () => (await limiter.warnings("pictures")).length === 0, WAIT);
});
