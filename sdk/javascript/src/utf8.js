// UTF-8 in both directions: QuickJS has neither TextEncoder nor TextDecoder.

export function encodeUtf8(text) {
  const bytes = [];
  for (const character of String(text)) {
    let point = character.codePointAt(0);
    // Half of a surrogate pair is no character.
    if (point >= 0xd800 && point <= 0xdfff) point = 0xfffd;
    if (point < 0x80) bytes.push(point);
    else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 63));
    else if (point < 0x10000) bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
    else {
      bytes.push(0xf0 | (point >> 18), 0x80 | ((point >> 12) & 63), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
    }
  }
  return Uint8Array.from(bytes);
}

// The smallest code point that a sequence of so many further bytes may stand for; below it the sequence is too long.
const SMALLEST = [0, 0x80, 0x800, 0x10000];

export function decodeUtf8(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at++];
    const more = first < 0x80 ? 0 : first >= 0xf0 && first < 0xf8 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : -1;
    let point = more === 0 ? first : first & (0x3f >> more);
    let read = 0;
    while (read < more && (bytes[at] & 0xc0) === 0x80) {
      point = (point << 6) | (bytes[at++] & 63);
      read += 1;
    }
    const sound =
      first < 0xf8 && read === more && point >= SMALLEST[more] && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
    text += String.fromCodePoint(sound ? point : 0xfffd);
  }
  return text;
}
