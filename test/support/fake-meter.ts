/**
 * Meters over HTTP that sum up, by what Stripe and OpenMeter document: Stripe refuses a second event of an
 * identifier with a 400, and OpenMeter answers it as the first one, and ignores it. Answers can be lost.
 */
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

export interface FakeMeter {
  readonly url: string;
  /** What each customer has used. */
  readonly sums: Map<string, number>;
  readonly ids: Set<string>;
  /** How many events came a second time. */
  repeated: number;
  /** Whether the meter's next answer is lost. */
  losesAnswer(): boolean;
  [Symbol.asyncDispose](): Promise<void>;
}

interface MeterEvent {
  readonly id: string;
  readonly customer: string;
  readonly value: number;
  readonly isStripe: boolean;
}

export async function openFakeMeter(losesAnswer = () => false): Promise<FakeMeter> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { id, customer, value, isStripe } = parse(Buffer.concat(chunks).toString());
      const isNew = !meter.ids.has(id);
      meter.ids.add(id);
      if (isNew) meter.sums.set(customer, (meter.sums.get(customer) ?? 0) + value);
      else meter.repeated++;
      if (meter.losesAnswer()) return void response.destroy();
      response.statusCode = isNew || !isStripe ? 200 : 400;
      const message = `An event already exists with identifier ${id}.`;
      response.end(response.statusCode === 200 ? "{}" : JSON.stringify({ error: { message } }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const meter: FakeMeter = {
    url: `http://127.0.0.1:${port}/`,
    sums: new Map(),
    ids: new Set(),
    repeated: 0,
    losesAnswer,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return meter;
}

/** A CloudEvent, or the form of a meter event of Stripe. */
function parse(body: string): MeterEvent {
  if (body.startsWith("{")) {
    const { id, source, subject, data } = JSON.parse(body) as {
      id: string;
      source: string;
      subject: string;
      data: { tokens: number };
    };
    return { id: `${source} ${id}`, customer: subject, value: data.tokens, isStripe: false };
  }
  const form = new URLSearchParams(body);
  const value = Number(form.get("payload[value]"));
  const [id, customer] = [form.get("identifier"), form.get("payload[stripe_customer_id]")];
  const isWhole = Number.isInteger(value) && Number.isInteger(Number(form.get("timestamp")));
  if (!id || id.length > 100 || !customer || !isWhole) throw new Error(`refused: ${body}`);
  return { id, customer, value, isStripe: true };
}
