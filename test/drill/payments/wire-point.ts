/** Which step of a job a request on the wire is, read from its action and its body. Pure. */

/** The requests by which a job goes on; `word`, `send` and `clear` are an operator's. */
export type WirePoint =
  | "open"
  | "start"
  | "take-over"
  | "charge"
  | "complete"
  | "finish"
  | "ack"
  | "word"
  | "send"
  | "clear";

/** What can be read of a request. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** The effect whose steps are watched. */
const EFFECT = "fx:charge";

/** The step that the request is; `undefined` for all others, as receives, reads and the receipt. */
export function pointOf({ method, path, headers, body }: WireRequest): WirePoint | undefined {
  if (method === "POST" && path.startsWith("/v1/payment_intents")) return "charge";
  const action = String(headers["x-amz-target"] ?? "").split(".")[1];
  if (action === "DeleteMessage" || action === "DeleteMessageBatch") return "ack";
  if (action === "SendMessage") return "send";
  const isWrite = action === "UpdateItem" || action === "PutItem";
  return isWrite ? ledgerPoint(JSON.parse(body.toString())) : undefined;
}

interface Value {
  readonly S?: string;
  readonly N?: string;
  readonly M?: Readonly<Record<string, Value>>;
}

type Values = Readonly<Record<string, Value>>;

/** An UpdateItem, or a PutItem, which has the whole item. */
interface LedgerRequest {
  readonly Item?: Values;
  readonly UpdateExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Values;
}

/** The steps exclude each other but one: a lazy opening starts its first effect, and is `start`. */
function ledgerPoint(request: LedgerRequest): WirePoint | undefined {
  const { set, removed } = changesOf(request);
  if (set.has("resolution")) return "word";
  // Parking, too, takes away the mark that a message is to be sent again.
  if (removed.includes("resend")) return set.has("state") ? undefined : "clear";
  const effect = set.get(EFFECT)?.M;
  if (effect?.["s"]?.S === "STARTED") return effect["a"]?.N === "1" ? "start" : "take-over";
  // An end says only what has changed of its effect.
  if ((effect?.["s"] ?? set.get(`${EFFECT}.s`))?.S === "DONE") return "complete";
  if (set.get("state")?.S === "DONE") return "finish";
  const isEnding = set.has("endings");
  return set.has("epoch") && set.get("state")?.S === "OPEN" && !isEnding ? "open" : undefined;
}

function changesOf(request: LedgerRequest): {
  readonly set: ReadonlyMap<string, Value>;
  readonly removed: readonly string[];
} {
  const {
    Item: item = {},
    UpdateExpression: expression = "",
    ExpressionAttributeNames: names = {},
    ExpressionAttributeValues: values = {},
  } = request;
  const nameOf = (path: string) => path.replace(/^#\w+/, (alias) => names[alias] ?? alias);
  const [setting = "", removing = ""] = expression.split(/\bREMOVE /);
  const pairs = [...setting.matchAll(/(#?\w+(?:\.\w+)?) = (:\w+)/g)].map(
    ([, name = "", value = ""]) => [nameOf(name), values[value] ?? {}] as const,
  );
  return {
    set: new Map([...Object.entries(item), ...pairs]),
    removed: [...removing.matchAll(/#?\w+/g)].map(([name]) => nameOf(name)),
  };
}
