/** The application's few settings, each a row that all processes read. */
import type { PrismaClient } from "../generated/prisma/client.js";
import { whenFree } from "./when-free.js";

/**
 * @param update what a setting that is there becomes. @default it stays as it is
 * @returns the setting's value, also if another process has written it at the same time.
 */
export async function saveSetting(
  prisma: PrismaClient,
  name: string,
  value: string,
  update: { value?: string } = {},
): Promise<string> {
  const save = () => prisma.setting.upsert({ where: { name }, create: { name, value }, update });
  const saved = await whenFree(prisma, () =>
    // Without an update, Prisma reads first. Another process may write between the two statements, and
    // the second try finds what it has written.
    save().catch((error: unknown) => {
      if ((error as { code?: unknown }).code === "P2002") return save();
      throw error;
    }),
  );
  return saved.value;
}
