-- CreateTable
CREATE TABLE `RateLimit` (
    `name` VARCHAR(192) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    `key` VARCHAR(192) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    `shard` INTEGER NOT NULL DEFAULT 0,
    `used` DOUBLE NOT NULL,
    `ts` DOUBLE NOT NULL,

    PRIMARY KEY (`name`, `key`, `shard`)
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
