/** Faults as one writes them in a command: `ReceiveMessage:throttle:0.1,*:latency=400`. Pure. */

import type { ActionName } from "@leasehold/embedded-sqs";
import { checkFaultPlan, type Fault, type FaultRule } from "./fault-plan.ts";

/** What a command line says of how faults are written. */
export const faultSyntax: string = `Faults are written ACTION:FAULT or ACTION:FAULT:CHANCE, with commas between them; the first that
fits a request, and whose chance comes up, decides. ACTION is one of SQS or DynamoDB, as in
ReceiveMessage or PutItem, or * for all. CHANCE is from 0, never, to 1, always. FAULT is one of:
  throttle                  refused for coming too fast
  server-error              500, and nothing was done
  server-error-after        500, and all was done
  reset                     the connection breaks before the request arrives
  reset-after               the connection breaks once all was done
  hung                      neither done nor answered
  lost-reply                done and never answered
  latency=MS                the request is under way for so long
  latency-after=MS          its answer is
  slow-body=MS              the answer trickles in over so long
  failed-entries            every other entry of a batch fails`;

/** By the word for it; those that take milliseconds have them after `=`. */
const plainFaults: Readonly<Record<string, Fault>> = {
  throttle: { kind: "throttle" },
  "server-error": { kind: "server-error", side: "before" },
  "server-error-after": { kind: "server-error", side: "after" },
  reset: { kind: "reset", side: "before" },
  "reset-after": { kind: "reset", side: "after" },
  hung: { kind: "hung" },
  "lost-reply": { kind: "lost-reply" },
  "failed-entries": { kind: "failed-entries" },
};
const timedFaults: Readonly<Record<string, (ms: number) => Fault>> = {
  latency: (delayMs) => ({ kind: "latency", side: "before", delayMs }),
  "latency-after": (delayMs) => ({ kind: "latency", side: "after", delayMs }),
  "slow-body": (durationMs) => ({ kind: "slow-body", durationMs }),
};

/** A name that nobody answers to would be a fault that never comes. */
const sqsActions: Readonly<Record<ActionName, true>> = {
  CancelMessageMoveTask: true,
  ChangeMessageVisibility: true,
  ChangeMessageVisibilityBatch: true,
  CreateQueue: true,
  DeleteMessage: true,
  DeleteMessageBatch: true,
  DeleteQueue: true,
  GetQueueAttributes: true,
  GetQueueUrl: true,
  ListDeadLetterSourceQueues: true,
  ListMessageMoveTasks: true,
  ListQueueTags: true,
  ListQueues: true,
  PurgeQueue: true,
  ReceiveMessage: true,
  SendMessage: true,
  SendMessageBatch: true,
  SetQueueAttributes: true,
  StartMessageMoveTask: true,
  TagQueue: true,
  UntagQueue: true,
};
const dynamodbActions = [
  ...["BatchGetItem", "BatchWriteItem", "CreateTable", "DeleteItem", "DeleteTable"],
  ...["DescribeTable", "DescribeTimeToLive", "GetItem", "ListTables", "ListTagsOfResource"],
  ...["PutItem", "Query", "Scan", "TagResource", "TransactGetItems", "TransactWriteItems"],
  ...["UntagResource", "UpdateItem", "UpdateTable", "UpdateTimeToLive"],
];
const actions: ReadonlySet<string> = new Set([...Object.keys(sqsActions), ...dynamodbActions]);

const WHOLE = /^\d{1,9}$/;
const DECIMAL = /^\d+(?:\.\d+)?$/;

/**
 * The rules that a text of faults stands for.
 *
 * @throws RangeError naming everything that makes no sense, not only the first
 */
export function readFaultRules(text: string): readonly FaultRule[] {
  const problems: string[] = [];
  const rules = text.split(",").flatMap((piece) => {
    const read = readRule(piece.trim());
    if (typeof read !== "string") return [read];
    problems.push(read);
    return [];
  });
  if (problems.length > 0) throw new RangeError(problems.join("; "));
  checkFaultPlan({ rules });
  return rules;
}

/** The rule, or what is wrong with it. */
function readRule(piece: string): FaultRule | string {
  const [action = "", name = "", chance = "1", ...more] = piece.split(":");
  if (action === "" || name === "" || more.length > 0) {
    return `'${piece}' is not ACTION:FAULT or ACTION:FAULT:CHANCE`;
  }
  const fault = readFault(name);
  if (action !== "*" && !actions.has(action)) {
    const like = [...actions].find((one) => one.toLowerCase() === action.toLowerCase());
    const mend = like === undefined ? "" : `, but ${like}`;
    return `neither SQS nor DynamoDB has an action '${action}'${mend}`;
  }
  if (typeof fault === "string") return fault;
  if (!DECIMAL.test(chance) || Number(chance) > 1) {
    return `the chance of '${piece}' must be a number between 0 and 1, got '${chance}'`;
  }
  return { fault, chance: Number(chance), ...(action === "*" ? {} : { actions: [action] }) };
}

/** The fault, or what is wrong with it. */
function readFault(text: string): Fault | string {
  const [name = "", ms] = text.split("=", 2);
  const plain = Object.hasOwn(plainFaults, name) ? plainFaults[name] : undefined;
  const timed = Object.hasOwn(timedFaults, name) ? timedFaults[name] : undefined;
  if (plain !== undefined && ms === undefined) return plain;
  if (plain !== undefined) return `'${name}' takes no milliseconds, got '${text}'`;
  if (timed === undefined) {
    const names = [...Object.keys(plainFaults), ...Object.keys(timedFaults).map((n) => `${n}=MS`)];
    return `there is no fault '${name}'; there are ${names.join(", ")}`;
  }
  if (ms !== undefined && WHOLE.test(ms)) return timed(Number(ms));
  return `'${name}' needs whole milliseconds, as in '${name}=400', got '${text}'`;
}
