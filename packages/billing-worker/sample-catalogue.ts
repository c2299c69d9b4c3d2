/** Sellers, buyers and goods that sample invoices are made of. */

import type { Party } from "./invoice/invoice.ts";
import type { CurrencyCode } from "./invoice/money.ts";

/** A tenant of this service: who it is, and how it bills. */
export interface SampleTenant {
  readonly tenantId: string;
  readonly seller: Party;
  readonly currency: CurrencyCode;
  readonly locale: string;
  /** Minor units for one unit of a catalogue price. */
  readonly minorPerUnit: number;
  /** The usual rate first. */
  readonly taxRates: readonly number[];
}

/** Something that is sold. */
export interface SampleItem {
  readonly description: string;
  readonly unit?: string;
  /** Catalogue price in units that each tenant turns into its currency. */
  readonly price: number;
  /** How many decimals its quantities have. */
  readonly decimals: 0 | 1 | 2;
  readonly most: number;
}

/** Tenants in five countries, with two, none and three decimals. */
export const sampleTenants: readonly SampleTenant[] = [
  {
    tenantId: "nordlicht",
    seller: party("Nordlicht Netze GmbH", ["Hafenstraße 12", "20359 Hamburg", "Germany"], {
      taxId: "DE 318 204 771",
      email: "rechnung@nordlicht.example",
    }),
    ...{ currency: "EUR", locale: "de-DE", minorPerUnit: 100, taxRates: [1900, 700] },
  },
  {
    tenantId: "harbour-finch",
    seller: party("Harbour & Finch Ltd", ["7 Quay Street", "Bristol BS1 4DJ", "United Kingdom"], {
      taxId: "GB 284 7719 52",
      email: "accounts@harbourfinch.example",
    }),
    ...{ currency: "GBP", locale: "en-GB", minorPerUnit: 86, taxRates: [2000, 500, 0] },
  },
  {
    tenantId: "kaede-denshi",
    seller: party("Kaede Denshi K.K.", ["2-11-3 Meguro", "Meguro-ku, Tokyo 153-0063", "Japan"], {
      taxId: "T8 0104 0100 2297",
      email: "seikyu@kaede.example",
    }),
    ...{ currency: "JPY", locale: "ja-JP", minorPerUnit: 163, taxRates: [1000, 800] },
  },
  {
    tenantId: "al-noor",
    seller: party("Al-Noor Marine Supply W.L.L.", ["Block 3, Shuwaikh Port", "Kuwait City"], {
      email: "billing@alnoor.example",
    }),
    ...{ currency: "KWD", locale: "en-GB", minorPerUnit: 335, taxRates: [0] },
  },
  {
    tenantId: "prairie",
    seller: party("Prairie Analytics Inc.", ["410 Grain Exchange", "Omaha, NE 68102", "USA"], {
      email: "ar@prairie.example",
    }),
    ...{ currency: "USD", locale: "en-US", minorPerUnit: 108, taxRates: [725, 0] },
  },
  {
    tenantId: "atelier-lemaire",
    seller: party("Atelier Lemaire SARL", ["18 rue des Fossés", "69001 Lyon", "France"], {
      taxId: "FR 40 512 843 771",
      email: "compta@lemaire.example",
    }),
    ...{ currency: "EUR", locale: "fr-FR", minorPerUnit: 100, taxRates: [2000, 1000, 550] },
  },
];

/** Customers of all of them. */
export const sampleBuyers: readonly Party[] = [
  party("Brightwater Logistics BV", ["Maasboulevard 100", "3063 NS Rotterdam", "Netherlands"], {
    taxId: "NL 8215.77.104.B01",
  }),
  party("Œuvre & Fils SA", ["Quai de la Poste 4", "1204 Genève", "Switzerland"]),
  party("Łódź Textile Works S.A.", ["ul. Piotrkowska 104", "90-926 Łódź", "Poland"], {
    taxId: "PL 727 228 33 44",
  }),
  party("Cormorant Fisheries Ltd", ["Pier 9", "Galway H91 X2F3", "Ireland"]),
  party("Mesa Verde Outfitters LLC", ["88 Canyon Road", "Durango, CO 81301", "USA"]),
  party("Fjellheim Sagbruk AS", ["Elveveien 21", "2615 Lillehammer", "Norway"]),
  party("Hoshino Kogyo Co., Ltd.", ["1-4-9 Nihonbashi", "Chuo-ku, Tokyo 103-0027", "Japan"]),
  party("Gulf Star Contracting", ["Sharq, Tower 5, Floor 12", "Kuwait City"]),
];

/** What is on the invoices. */
export const sampleItems: readonly SampleItem[] = [
  { description: "Managed queue workers, standard", price: 49, decimals: 0, most: 12 },
  {
    description: "Consulting on deployment and drain",
    unit: "h",
    price: 140,
    decimals: 2,
    most: 24,
  },
  { description: "Object storage, frequent access", unit: "TB", price: 21, decimals: 1, most: 60 },
  { description: "On-call retainer, business hours", unit: "mo", price: 890, decimals: 0, most: 1 },
  {
    description: "On-call retainer around the clock, incident review and written report included",
    ...{ unit: "mo", price: 2_650, decimals: 0, most: 1 },
  },
  {
    description: "Outbound transfer, beyond allowance",
    unit: "GB",
    price: 1,
    decimals: 2,
    most: 900,
  },
  { description: "Rack unit, colocation, with power", unit: "U", price: 65, decimals: 0, most: 8 },
  { description: "TLS certificate, organisation validated", price: 119, decimals: 0, most: 3 },
  { description: "Workshop for teams, on site", unit: "day", price: 1_480, decimals: 1, most: 4 },
  { description: "Printed manual, ring binding", price: 18, decimals: 0, most: 25 },
  { description: "Courier, insured, next day", price: 34, decimals: 0, most: 6 },
];

function party(
  name: string,
  addressLines: readonly string[],
  rest: Pick<Party, "taxId" | "email"> = {},
): Party {
  return { name, addressLines, ...rest };
}
