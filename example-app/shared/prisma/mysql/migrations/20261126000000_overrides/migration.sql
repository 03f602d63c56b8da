-- CreateTable
CREATE TABLE `rate_limit_overrides` (
    `name` VARCHAR(192) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    `key` VARCHAR(192) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    `rule` VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    `until` DOUBLE NOT NULL,
    `setAt` DOUBLE NOT NULL,

    PRIMARY KEY (`name`, `key`)
) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
