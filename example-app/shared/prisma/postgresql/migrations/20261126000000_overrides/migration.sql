-- CreateTable
CREATE TABLE "rate_limit_overrides" (
    "name" TEXT COLLATE "C" NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL DEFAULT '',
    "rule" TEXT NOT NULL,
    "until" DOUBLE PRECISION NOT NULL,
    "setAt" DOUBLE PRECISION NOT NULL,

    CONSTRAINT "rate_limit_overrides_pkey" PRIMARY KEY ("name", "key")
);
