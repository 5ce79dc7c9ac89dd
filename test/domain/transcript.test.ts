import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Turn } from "../../src/domain/call.ts";
import { transcriptHtml, transcriptText } from "../../src/domain/transcript.ts";

const turn = (speaker: Turn["speaker"], text: string, via: Turn["via"] = "voice"): Turn => ({
  seq: 1,
  speaker,
  text,
  startMs: 0,
  endMs: 1,
  via,
});

describe("a transcript", () => {
  test("in HTML labels each turn and separates turns as published", () => {
    expect(transcriptHtml([turn("agent", "Hola, ¿Ana?"), turn("callee", "Sí")])).toBe(
      "<b>[Assistant]</b> Hola, ¿Ana?<br><br><b>[Customer]</b> Sí",
    );
  });

  test("of nothing is empty", () => {
    expect([transcriptHtml([]), transcriptText([])]).toEqual(["", ""]);
  });

  test("escapes speech and speaker names", () => {
    const speakers = { agent: "<script>", callee: "C" };
    expect(transcriptHtml([turn("agent", `"a" & 'b' </b><br><img src=x onerror=alert(1)>`)], speakers)).toBe(
      "<b>[&lt;script&gt;]</b> &quot;a&quot; &amp; &#39;b&#39; &lt;/b&gt;&lt;br&gt;&lt;img src=x onerror=alert(1)&gt;",
    );
  });

  test("says so when there was sound that nothing could transcribe", () => {
    expect(transcriptText([turn("callee", "", "none")])).toBe("Customer: (not transcribed)");
  });

  test("as text has one line a turn", () => {
    expect(transcriptText([turn("agent", "one\ntwo"), turn("callee", "three")])).toBe(
      "Assistant: one two\nCustomer: three",
    );
  });

  test("holds no markup but ours, and no control characters, for any speech and names", () => {
    const turns = fc.array(
      fc.tuple(fc.constantFrom("agent" as const, "callee" as const), fc.string({ unit: "binary" })),
      { minLength: 1 },
    );
    const names = fc.record({ agent: fc.string({ unit: "binary" }), callee: fc.string({ unit: "binary" }) });
    fc.assert(
      fc.property(turns, names, (said, speakers) => {
        const list = said.map(([speaker, text]) => turn(speaker, text));
        const html = transcriptHtml(list, speakers);
        expect(html.replaceAll(/<\/?b>|<br>/g, "")).not.toMatch(/[<>"']/);
        expect(html.split("<br><br>")).toHaveLength(list.length);
        expect(html.match(/<b>/g)).toHaveLength(list.length);
        const text = transcriptText(list, speakers);
        expect(text.split("\n")).toHaveLength(list.length);
        // oxlint-disable-next-line no-control-regex -- they must be gone
        expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
      }),
    );
  });
});
