/** This service for other programs: its contract and jobs, its stores, and itself as a target. */

export { type BillingSession, type BillingTarget, target } from "./billing-target.ts";
export { BILLING_QUEUE, billingContract, invoicesTable } from "./contract.ts";
export { DynamoDbInvoiceStore } from "./invoice/dynamodb-invoice-store.ts";
export { type Invoice, isPaid, type PaidInvoice } from "./invoice/invoice.ts";
export type { InvoiceKey, InvoiceStore } from "./invoice/invoice-store.ts";
export { FolderReceiptStore } from "./receipt/folder-receipt-store.ts";
export { receiptPath } from "./receipt/receipt-path.ts";
export { type SampleJob, type SampleRequest, sampleJobs } from "./sample-jobs.ts";
