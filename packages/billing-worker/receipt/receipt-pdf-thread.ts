/** What runs in a render thread. */

import { systemClock } from "@leasehold/clock";
import type { PaidInvoice } from "../invoice/invoice.ts";
import { renderReceipt } from "./receipt-pdf.ts";

/** One render, as the pool hands it over. */
export interface RenderTask {
  readonly invoice: PaidInvoice;
  /** For trials: how long the render takes at least. */
  readonly atLeastMs: number;
}

/** Renders; the pool asks for a default export. An abort ends the whole thread, waiting or not. */
export default async function render({ invoice, atLeastMs }: RenderTask): Promise<Uint8Array> {
  const startedAtMs = systemClock.monotonicMs();
  const pdf = await renderReceipt(invoice);
  const leftMs = startedAtMs + atLeastMs - systemClock.monotonicMs();
  if (leftMs > 0) await systemClock.sleep(leftMs);
  return pdf;
}
