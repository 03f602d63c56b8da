-- CreateTable
CREATE TABLE "rate_limit_overrides" (
    "name" TEXT NOT NULL,
    "key" TEXT NOT NULL DEFAULT '',
    "rule" TEXT NOT NULL,
    "until" REAL NOT NULL,
    "setAt" REAL NOT NULL,

    PRIMARY KEY ("name", "key")
);
