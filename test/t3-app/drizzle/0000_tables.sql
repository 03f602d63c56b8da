CREATE TABLE "t3-app_post" (
    "id" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    "name" TEXT(256),
    "createdAt" INTEGER DEFAULT (unixepoch()) NOT NULL
);

CREATE TABLE "t3-app_RateLimit" (
    "name" TEXT NOT NULL,
    "key" TEXT NOT NULL DEFAULT '',
    "shard" INTEGER NOT NULL DEFAULT 0,
    "used" REAL NOT NULL,
    "ts" REAL NOT NULL,

    PRIMARY KEY ("name", "key", "shard")
);
