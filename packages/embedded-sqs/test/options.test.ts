import { ManualClock } from "@leasehold/clock/manual";
import { SqsAccount } from "@leasehold/embedded-sqs";
import { describe, expect, test } from "vitest";

describe("the options of an account", () => {
  test("are refused all at once when they make no sense", () => {
    const options = { accountId: "1", region: "", inFlightLimit: 0, folders: "x" };

    expect(() => new SqsAccount(new ManualClock(), options)).toThrow(
      "folders is not an option of an account; accountId must have twelve digits, got 1; region must be the name of a region, got ; inFlightLimit must be a whole number above 0, got 0",
    );
  });
});
