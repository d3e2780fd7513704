/** WebCrypto, wherever this runs. */

/** Node 18 has it, but not as a global. The name is put together so that no bundler for browsers looks for it. */
export async function webCrypto(): Promise<Crypto> {
  if (typeof globalThis.crypto !== 'undefined') return globalThis.crypto;
  const node = (await import(['node', 'crypto'].join(':'))) as { webcrypto: Crypto };
  return node.webcrypto;
}

/** A UUID by chance (version 4). Not `randomUUID`, which browsers have on pages of https alone. */
export async function newId(): Promise<string> {
  const bytes = (await webCrypto()).getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
