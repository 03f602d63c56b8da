-- CreateTable
CREATE TABLE "NaiveLimit" (
    "key" TEXT NOT NULL PRIMARY KEY,
    "count" INTEGER NOT NULL,
    "resetAt" DATETIME NOT NULL
);

-- CreateTable
CREATE TABLE "Seat" (
    "orders" TEXT NOT NULL,
    "number" INTEGER NOT NULL,

    PRIMARY KEY ("orders", "number")
);
