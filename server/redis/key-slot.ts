/**
 * The slot of a key in a cluster: CRC-16 (XMODEM) of the key, or of the text between its first braces, as
 * in the specification of Redis Cluster.
 */
const SLOTS = 16_384;
const POLYNOMIAL = 0x1021;

/** The CRC of each byte. */
const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) {
    crc = crc & 0x8000 ? (crc << 1) ^ POLYNOMIAL : crc << 1;
  }
  return crc;
});

const encoder = new TextEncoder();

/** @returns 0 to 16383. */
export function keySlot(key: string): number {
  let crc = 0;
  for (const byte of encoder.encode(hashedPart(key))) {
    crc = ((crc << 8) ^ table[((crc >> 8) ^ byte) & 0xff]!) & 0xffff;
  }
  return crc % SLOTS;
}

/** The text between the first braces, unless it is empty. */
function hashedPart(key: string): string {
  const open = key.indexOf("{");
  const close = open === -1 ? -1 : key.indexOf("}", open + 1);
  return close > open + 1 ? key.slice(open + 1, close) : key;
}
