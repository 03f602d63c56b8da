-- CreateTable
CREATE TABLE "RateLimit" (
    "name" TEXT NOT NULL,
    "key" TEXT NOT NULL DEFAULT '',
    "shard" INTEGER NOT NULL DEFAULT 0,
    "used" REAL NOT NULL,
    "ts" REAL NOT NULL,

    PRIMARY KEY ("name", "key", "shard")
);
