-- CreateTable
CREATE TABLE "NaiveLimit" (
    "key" TEXT NOT NULL,
    "count" INTEGER NOT NULL,
    "resetAt" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "NaiveLimit_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "Seat" (
    "orders" TEXT NOT NULL,
    "number" INTEGER NOT NULL,

    CONSTRAINT "Seat_pkey" PRIMARY KEY ("orders", "number")
);
