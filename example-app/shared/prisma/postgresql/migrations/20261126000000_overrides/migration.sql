-- CreateTable
CREATE TABLE "RateLimitOverride" (
    "name" TEXT COLLATE "C" NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL DEFAULT '',
    "rule" TEXT NOT NULL,
    "until" DOUBLE PRECISION NOT NULL,
    "setAt" DOUBLE PRECISION NOT NULL,

    CONSTRAINT "RateLimitOverride_pkey" PRIMARY KEY ("name", "key")
);
