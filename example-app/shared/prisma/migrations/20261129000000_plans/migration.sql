ALTER TABLE "Visitor" RENAME COLUMN "tier" TO "plan";

-- What a visitor has chosen in the playground is an override of the limit now.
ALTER TABLE "Visitor" DROP COLUMN "playground";
