// Messages and their pieces, in the contract's form.

export const text = (val) => ({ tag: "text", val: String(val) });

export const image = (mediaType, data) => ({ tag: "image", val: { mediaType, data } });

export function textOf(value) {
  const content = Array.isArray(value) ? value : value.content;
  return content
    .filter((piece) => piece.tag === "text")
    .map((piece) => piece.val)
    .join("\n");
}

const message = (role, content) => ({
  role,
  content: typeof content === "string" ? [text(content)] : content,
  toolCalls: [],
  toolCallId: undefined,
  name: undefined,
});

export const userMessage = (content) => message("user", content);

export const assistantMessage = (content) => message("assistant", content);

export const systemMessage = (content) => message("system", content);
