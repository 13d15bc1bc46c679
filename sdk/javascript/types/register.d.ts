/** `node --import capstan-sdk/register` lets Node run TypeScript, its types taken out and not checked. */
export {};
