-- AlterTable
ALTER TABLE `Message` ADD COLUMN `nonce` VARCHAR(191) NULL;

-- CreateIndex
CREATE UNIQUE INDEX `Message_visitor_nonce_key` ON `Message`(`visitor`, `nonce`);
