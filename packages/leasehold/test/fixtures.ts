/** A contract that tests share. */

import { type DeploymentContract, defineContract } from "@leasehold/deployment-contract";

export const billing: DeploymentContract = defineContract({
  preset: "drill",
  service: "billing",
  queues: [{ name: "jobs" }],
});
