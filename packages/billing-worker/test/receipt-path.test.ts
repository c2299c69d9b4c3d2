import { join, resolve, sep } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { receiptPath, safeName } from "../receipt/receipt-path.ts";

describe("receiptPath", () => {
  test.each([
    ["acme", "INV-2026.01_7", "acme/INV-2026.01_7.pdf"],
    ["..", "../../etc/passwd", "%2E%2E/%2E%2E%2F..%2Fetc%2Fpasswd.pdf"],
    [".", "/", "%2E/%2F.pdf"],
    ["a b", "ü%41", "a%20b/%C3%BC%2541.pdf"],
    ["trailing.", "~", "trailing%2E/%7E.pdf"],
    [".incoming", "x", "%2Eincoming/x.pdf"],
  ])("of tenant %j and invoice %j is %s", (tenantId, invoiceId, path) => {
    expect(receiptPath({ tenantId, invoiceId }).join("/")).toBe(path);
  });

  test("cuts a long name and keeps it apart from others that begin like it", () => {
    const first = safeName(`${"ü".repeat(100)}1`);
    const second = safeName(`${"ü".repeat(100)}2`);

    expect(first).toHaveLength(185);
    expect(first).not.toBe(second);
  });
});

describe("receipt paths, over all ids", () => {
  const id = fc.oneof(
    fc
      .string({ unit: "binary", minLength: 1, maxLength: 80 })
      .filter((text) => text.isWellFormed()),
    fc.string({ unit: fc.constantFrom(".", "/", "\\", "%", "~", "a", "2", "E"), minLength: 1 }),
  );

  test("none leads out of the folder, and the name fits every file system", () => {
    fc.assert(
      fc.property(id, id, (tenantId, invoiceId) => {
        const [folder, file] = receiptPath({ tenantId, invoiceId });
        expect(resolve(join("/receipts", folder, file))).toBe(
          ["", "receipts", folder, file].join(sep),
        );
        expect(Math.max(folder.length, file.length)).toBeLessThanOrEqual(255);
      }),
    );
  });

  test("two ids never share a name", () => {
    fc.assert(
      fc.property(id, id, (left, right) => {
        expect(safeName(left) === safeName(right)).toBe(left === right);
      }),
    );
  });
});
