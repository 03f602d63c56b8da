-- CreateTable
CREATE TABLE "Message" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "visitor" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- CreateTable
CREATE TABLE "Setting" (
    "name" TEXT NOT NULL PRIMARY KEY,
    "value" TEXT NOT NULL
);

-- CreateTable
CREATE TABLE "rate_limits" (
    "name" TEXT NOT NULL,
    "key" TEXT NOT NULL DEFAULT '',
    "shard" INTEGER NOT NULL DEFAULT 0,
    "used" REAL NOT NULL,
    "ts" REAL NOT NULL,

    PRIMARY KEY ("name", "key", "shard")
);
