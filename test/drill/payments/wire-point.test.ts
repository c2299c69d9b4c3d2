import { expect, test } from "vitest";
import { pointOf } from "./wire-point.ts";

function sent(target: string, body: unknown = {}) {
  const headers = { "x-amz-target": target };
  return { method: "POST", path: "/", headers, body: Buffer.from(JSON.stringify(body)) };
}

/** Plain names stand as they are, all others have an alias. */
function update(set: Record<string, unknown>, removed: readonly string[] = []) {
  const names = [...Object.keys(set), ...removed].map((path) => path.split(".")[0] ?? "");
  const alias = (path: string) => {
    const [name = "", ...inner] = path.split(".");
    const said = /^(?:state$|fx:)/.test(name) ? `#n${names.indexOf(name)}` : name;
    return [said, ...inner].join(".");
  };
  const sets = Object.keys(set).map((name, at) => `${alias(name)} = :v${at}`);
  const expression = [
    ...(sets.length > 0 ? [`SET ${sets.join(", ")}`] : []),
    ...(removed.length > 0 ? [`REMOVE ${removed.map(alias).join(", ")}`] : []),
  ];
  return sent("DynamoDB_20120810.UpdateItem", {
    UpdateExpression: expression.join(" "),
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [alias(name), name])),
    ExpressionAttributeValues: Object.fromEntries(
      Object.values(set).map((value, at) => [`:v${at}`, value]),
    ),
  });
}

const put = (item: Record<string, unknown>) => sent("DynamoDB_20120810.PutItem", { Item: item });
const text = (S: string) => ({ S });
const epoch = { N: "1" };
const effect = (s: string, a = "1") => ({ M: { s: text(s), a: { N: a } } });

test.each([
  ["open", put({ pk: text("J#a#b#c"), epoch, state: text("OPEN") })],
  ["open", update({ epoch, state: text("OPEN") }, ["expiresAt"])],
  ["start", update({ "fx:charge": effect("STARTED") }, ["expiresAt"])],
  ["start", put({ epoch, state: text("OPEN"), "fx:charge": effect("STARTED") })],
  ["take-over", update({ "fx:charge": effect("STARTED", "2") })],
  ["complete", update({ "fx:charge": effect("DONE") })],
  ["complete", update({ "fx:charge.s": text("DONE"), "fx:charge.o": text("ok") })],
  ["complete", update({ state: text("DONE"), "fx:charge.s": text("DONE") })],
  ["finish", update({ state: text("DONE") })],
  ["word", update({ epoch, state: text("OPEN"), resolution: text("{}"), resend: text("u") })],
  ["clear", update({ updatedAt: epoch }, ["resend", "parked"])],
  ["ack", sent("AmazonSQS.DeleteMessageBatch")],
  ["ack", sent("AmazonSQS.DeleteMessage")],
  ["send", sent("AmazonSQS.SendMessage")],
] as const)("%s is told by its request", (point, request) => {
  expect(pointOf(request)).toBe(point);
});

test("a charge is told by its address", () => {
  const request = {
    method: "POST",
    path: "/v1/payment_intents",
    headers: {},
    body: Buffer.from(""),
  };
  expect(pointOf(request)).toBe("charge");
  expect(pointOf({ ...request, method: "GET" })).toBeUndefined();
});

test.each([
  ["a receive", sent("AmazonSQS.ReceiveMessage")],
  ["a read", sent("DynamoDB_20120810.GetItem")],
  ["the receipt's start", update({ "fx:receipt": effect("STARTED") })],
  ["the receipt's end", update({ "fx:receipt.s": text("DONE") })],
  ["parking", update({ state: text("PARKED") }, ["resend"])],
  ["a first ending", put({ epoch, state: text("OPEN"), endings: epoch })],
  ["a heartbeat", update({ leaseUntil: epoch })],
  ["an ending that is counted", update({ leaseUntil: epoch, endings: epoch, state: text("OPEN") })],
])("%s is no step that is watched", (_, request) => {
  expect(pointOf(request)).toBeUndefined();
});
