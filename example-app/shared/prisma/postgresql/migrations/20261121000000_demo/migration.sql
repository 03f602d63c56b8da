-- CreateTable
CREATE TABLE "Message" (
    "id" SERIAL NOT NULL,
    "visitor" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Message_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Visitor" (
    "id" TEXT NOT NULL,
    "tier" TEXT NOT NULL DEFAULT 'free',
    "playground" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "Visitor_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "SignUp" (
    "id" SERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "SignUp_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Setting" (
    "name" TEXT NOT NULL,
    "value" TEXT NOT NULL,

    CONSTRAINT "Setting_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "rate_limits" (
    "name" TEXT COLLATE "C" NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL DEFAULT '',
    "shard" INTEGER NOT NULL DEFAULT 0,
    "used" DOUBLE PRECISION NOT NULL,
    "ts" DOUBLE PRECISION NOT NULL,

    CONSTRAINT "rate_limits_pkey" PRIMARY KEY ("name", "key", "shard")
);
