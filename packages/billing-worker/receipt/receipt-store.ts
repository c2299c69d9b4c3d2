/** Port: finished receipts, one for each paid invoice. */

import type { InvoiceKey } from "../invoice/invoice-store.ts";

/** What a receipt was, compared with the one stored before. */
export type StoreOutcome = "stored" | "unchanged" | "replaced";

/** Where receipts go; a reader sees a whole receipt or none. */
export interface ReceiptStore {
  /** Stores the receipt whole or not at all; the same bytes again change nothing. */
  put(key: InvoiceKey, pdf: Uint8Array): Promise<StoreOutcome>;
  find(key: InvoiceKey): Promise<Uint8Array | undefined>;
}
