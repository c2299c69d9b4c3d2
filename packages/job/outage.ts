/** Whether an error says that a provider is down, not that it dislikes this one call. Pure. */

/** The system's and undici's words for connections that fail. */
const NETWORK_CODES: ReadonlySet<unknown> = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT", "ENOTFOUND"],
  ...["EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN", "ERR_SOCKET_CONNECTION_TIMEOUT"],
  ...["UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"],
  ...["UND_ERR_SOCKET", "EFFECT_TIMEOUT"],
]);
/** How SDKs call them. */
const NETWORK_NAMES = /(?:Connection|Timeout|Network(?:ing)?)Error$/u;
/** Of causes within causes. */
const DEEPEST = 6;

/**
 * Whether `thrown`, or a cause of it, is a failed connection, a time limit that was reached, or an
 * answer of HTTP 5xx. Read from the fields that Node, undici, the AWS SDK, axios and Stripe's SDK have.
 */
export function isOutage(thrown: unknown): boolean {
  let error = thrown;
  for (let depth = 0; depth < DEEPEST; depth += 1) {
    if (typeof error !== "object" || error === null) return false;
    const fields = error as Readonly<Record<string, unknown>>;
    if (isNetworkTrouble(fields) || isServerError(fields)) return true;
    error = fields["cause"];
  }
  return false;
}

function isNetworkTrouble({ code, name, type }: Readonly<Record<string, unknown>>): boolean {
  if (NETWORK_CODES.has(code)) return true;
  return [name, type].some((word) => typeof word === "string" && NETWORK_NAMES.test(word));
}

function isServerError(fields: Readonly<Record<string, unknown>>): boolean {
  const metadata = fields["$metadata"] as { readonly httpStatusCode?: unknown } | undefined;
  const response = fields["response"] as { readonly status?: unknown } | undefined;
  const statuses = [
    ...[fields["statusCode"], fields["status"]],
    ...[metadata?.httpStatusCode, response?.status],
  ];
  return statuses.some((status) => typeof status === "number" && status >= 500 && status < 600);
}
