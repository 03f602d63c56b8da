-- CreateTable
CREATE TABLE "RateLimit" (
    "name" TEXT COLLATE "C" NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL DEFAULT '',
    "shard" INTEGER NOT NULL DEFAULT 0,
    "used" DOUBLE PRECISION NOT NULL,
    "ts" DOUBLE PRECISION NOT NULL,

    CONSTRAINT "RateLimit_pkey" PRIMARY KEY ("name", "key", "shard")
);
