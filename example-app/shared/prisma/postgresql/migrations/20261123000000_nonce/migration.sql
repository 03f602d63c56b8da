-- AlterTable
ALTER TABLE "Message" ADD COLUMN "nonce" TEXT;

-- CreateIndex
CREATE UNIQUE INDEX "Message_visitor_nonce_key" ON "Message"("visitor", "nonce");
