/** The accounts, as a table would hold them: without passwords, only with their `scrypt` hashes. */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

const hash = promisify<string, Buffer, number, Buffer>(scrypt);
const HASH_LENGTH = 64;

interface Account {
  salt: Buffer;
  hash: Buffer;
}

/** The account of the demo, by its name. */
export async function createAccounts(): Promise<Map<string, Account>> {
  const salt = randomBytes(16);
  return new Map([["demo", { salt, hash: await hash("open sesame", salt, HASH_LENGTH) }]]);
}

/** Takes equally long for every password, and for an account that does not exist. */
export async function isPassword(account: Account | undefined, password: string): Promise<boolean> {
  const salt = account?.salt ?? Buffer.alloc(16);
  const given = await hash(password, salt, HASH_LENGTH);
  return timingSafeEqual(given, account?.hash ?? Buffer.alloc(HASH_LENGTH));
}
