import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeUtf8, encodeUtf8 } from "capstan-sdk";

test("every code point goes to bytes and back as the platform's own coder does it", () => {
  for (let point = 0; point <= 0x10ffff; point += point < 0x3000 ? 1 : 97) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    const text = String.fromCodePoint(point);
    const bytes = encodeUtf8(text);
    assert.deepEqual(bytes, new Uint8Array(new TextEncoder().encode(text)));
    assert.equal(decodeUtf8(bytes), text);
  }
});

test("half a pair becomes the replacement character", () => {
  assert.equal(decodeUtf8(encodeUtf8("a\ud800b")), "a\ufffdb");
});

test("bytes that are no UTF-8 become replacement characters and never an error", () => {
  for (const bytes of [[0x80], [0xc0, 0x80], [0xe2, 0x82], [0xf5, 0x80, 0x80, 0x80], [0xed, 0xa0, 0x80], [0xff], [0xc3, 0x28]]) {
    const text = decodeUtf8(Uint8Array.from(bytes));
    assert.match(text, /\ufffd/);
    assert.equal(text.endsWith("("), bytes.at(-1) === 0x28);
  }
});
