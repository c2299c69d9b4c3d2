import { describe, expect, test } from "vitest";
import { Markup, markup } from "../markup.ts";

describe("markup", () => {
  test("turns every value into text, in an element and in an attribute", () => {
    expect(`${markup`<p title="${`"'`}">${"<b>R&D</b>"}</p>`}`).toBe(
      '<p title="&quot;&#39;">&lt;b&gt;R&amp;D&lt;/b&gt;</p>',
    );
  });

  test("keeps markup what it is, alone and in a list", () => {
    const items = ["a", "<"].map((text) => markup`<li>${text}</li>`);

    expect(`${markup`<ul>${items}</ul>${new Markup("<hr>")}${7}`}`).toBe(
      "<ul><li>a</li><li>&lt;</li></ul><hr>7",
    );
  });
});
