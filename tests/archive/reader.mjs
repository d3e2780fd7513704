// A second reader of archive packages, written from docs/reference/archive-format.md with Node's own modules alone.
// node reader.mjs PACKAGE...: each file is a chain of its own, one JSON line each; --chain: all files are one chain.
import { createHash, createPublicKey, verify as verifySignature } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { crc32 as zlibCrc32, inflateRawSync } from "node:zlib";

class Broken extends Error {}
class Unsigned extends Error {}
const need = (holds, why) => { if (!holds) throw new Broken(why); };
const sha256 = (data) => createHash("sha256").update(data).digest();
const hex = (data) => sha256(data).toString("hex");

// Container ----------------------------------------------------------------------------------------------------------
const MIB = 1024 * 1024;
const TABLE = Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n >>> 0;
});
const crc32 = zlibCrc32 ?? ((data) => {
  let crc = 0xffffffff;
  for (const byte of data) crc = TABLE[(crc ^ byte) & 255] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
});

class Container {
  constructor(bytes) {
    this.bytes = bytes;
    this.files = new Map();
    need(bytes.length >= 22, "short");
    const end = bytes.subarray(bytes.length - 22);
    need(end.readUInt32LE(0) === 0x06054b50, "end record");
    const count = end.readUInt16LE(10), length = end.readUInt32LE(12), start = end.readUInt32LE(16);
    need(end.readUInt16LE(4) === 0 && end.readUInt16LE(6) === 0 && end.readUInt16LE(20) === 0, "end record");
    need(end.readUInt16LE(8) === count && count <= 65534 && start + length + 22 === bytes.length, "end record");
    need(length <= count * 256, "directory");
    let at = start, expected = 0, total = 0;
    for (let n = 0; n < count; n++) {
      need(at + 46 <= start + length, "directory");
      const head = bytes.subarray(at, at + 46);
      const nameLength = head.readUInt16LE(28);
      need(head.readUInt32LE(0) === 0x02014b50 && head.readUInt16LE(4) === 20, "directory");
      for (const place of [30, 32, 34, 36]) need(head.readUInt16LE(place) === 0, "directory");
      need(head.readUInt32LE(38) === 0 && head.readUInt32LE(42) === expected, "directory");
      need(nameLength >= 1 && nameLength <= 210 && at + 46 + nameLength <= start + length, "directory");
      const raw = bytes.subarray(at + 46, at + 46 + nameLength);
      at += 46 + nameLength;
      need(raw.every((byte) => byte < 128), "name");
      need(expected + 30 + nameLength <= bytes.length, "local header");
      const local = bytes.subarray(expected, expected + 30 + nameLength);
      need(local.readUInt32LE(0) === 0x04034b50, "local header");
      need(local.subarray(4, 30).equals(head.subarray(6, 32)) && local.subarray(30).equals(raw), "local header");
      const method = head.readUInt16LE(10), packed = head.readUInt32LE(20), size = head.readUInt32LE(24);
      const name = raw.toString("latin1");
      need(head.readUInt16LE(6) === 20 && head.readUInt16LE(8) === 0, "version");
      need(head.readUInt16LE(12) === 0 && head.readUInt16LE(14) === 0x21 && [0, 8].includes(method), "header");
      need(packed <= size && (method === 0) === (packed === size), "sizes");
      need(size <= (name === "manifest.json" ? 32 : 16) * MIB && !this.files.has(name), "size or name");
      total += size;
      this.files.set(name, { start: expected + local.length, method, crc: head.readUInt32LE(16), packed, size });
      expected += local.length + packed;
    }
    need(at === start + length && expected === start && total <= 1056 * MIB, "bytes beside the files");
  }

  read(name) {
    const { start, method, crc, packed, size } = this.files.get(name);
    need(start + packed <= this.bytes.length, "short");
    let content = this.bytes.subarray(start, start + packed);
    if (method === 8) {
      try {
        const { buffer, engine } = inflateRawSync(content, { maxOutputLength: size || 1, info: true });
        need(engine.bytesWritten === packed, "deflate");
        content = buffer;
      } catch {
        throw new Broken("deflate");
      }
    }
    need(content.length === size && crc32(content) === crc, "CRC");
    return content;
  }
}

// DER ----------------------------------------------------------------------------------------------------------------
function derAt(raw, start) {
  need(start + 2 <= raw.length && (raw[start] & 31) !== 31, "DER");
  let at = start + 2, length = raw[start + 1];
  if (length >= 128) {
    const count = length - 128;
    need(count >= 1 && count <= 4 && at + count <= raw.length, "DER");
    length = raw.readUIntBE(at, count);
    need(length >= 128 && length >= 2 ** (8 * (count - 1)), "DER");
    at += count;
  }
  need(at + length <= raw.length, "DER");
  return [{ tag: raw[start], content: raw.subarray(at, at + length), raw: raw.subarray(start, at + length) }, at + length];
}
function der(raw) {
  const [value, end] = derAt(raw, 0);
  need(end === raw.length, "DER");
  return value;
}
const is = (value, tag) => { need(value !== undefined && value.tag === tag, "DER"); return value.content; };
function parts(value, tag = 0x30, count = undefined) {
  const content = is(value, tag), found = [];
  for (let at = 0; at < content.length;) {
    const [one, next] = derAt(content, at);
    found.push(one);
    at = next;
  }
  need(count === undefined || found.length === count, "DER");
  return found;
}
function integer(value) {
  const c = is(value, 2);
  need(c.length > 0 && !(c.length > 1 && ((c[0] === 0 && c[1] < 128) || (c[0] === 255 && c[1] >= 128))), "DER");
  return BigInt.asIntN(8 * c.length, BigInt("0x" + c.toString("hex")));
}
const oid = (value) => is(value, 6).toString("hex");
const bits = (value) => { const c = is(value, 3); need(c[0] === 0, "DER"); return c.subarray(1); };
function derTime(value) {
  need(value !== undefined, "DER");
  let text = value.content.toString("latin1");
  if (value.tag === 0x17 && text.length === 13) text = (text.slice(0, 2) < "50" ? "20" : "19") + text;
  else need(value.tag === 0x18, "DER");
  const found = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  need(found, "DER");
  return instant(...found.slice(1).map(Number));
}
function instant(year, month, day, hour = 0, minute = 0, second = 0) {
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  at.setUTCHours(hour, minute, second);
  need(year >= 1 && at.getUTCMonth() === month - 1 && at.getUTCDate() === day, "time");
  need(hour < 24 && minute < 60 && second < 60, "time");
  return at.getTime();
}

// Keys and certificates ----------------------------------------------------------------------------------------------
function publicKey(info) {
  const [algorithm, key] = parts(info, 0x30, 2);
  const [kind, ...parameters] = parts(algorithm);
  if (oid(kind) === "2a864886f70d010101") {
    const [n, e] = parts(der(bits(key)), 0x30, 2).map(integer);
    const size = n > 0n ? n.toString(2).length : 0;
    need(size >= 2048 && size <= 8192 && n % 2n === 1n && e >= 3n && e < 2n ** 32n && e % 2n === 1n, "RSA");
    const url = (value) => { const h = value.toString(16); return Buffer.from(h.length % 2 ? "0" + h : h, "hex").toString("base64url"); };
    return { kind: "rsa", size, key: createPublicKey({ key: { kty: "RSA", n: url(n), e: url(e) }, format: "jwk" }) };
  }
  need(oid(kind) === "2a8648ce3d0201" && parameters.length === 1, "key");
  need(["2a8648ce3d030107", "2b81040022"].includes(oid(parameters[0])) && bits(key)[0] === 4, "curve");
  try {
    return { kind: "ec", size: 0, key: createPublicKey({ key: info.raw, format: "der", type: "spki" }) };
  } catch {
    throw new Broken("point");
  }
}
function verifies(key, signature, data, digest = "sha256") {
  if (key.kind === "rsa" && signature.length !== Math.ceil(key.size / 8)) return false;
  return verifySignature(digest, data, key.key, signature);
}
const ALGORITHMS = {
  "2a864886f70d01010b": "sha256", "2a864886f70d01010c": "sha384", "2a864886f70d01010d": "sha512",
  "2a8648ce3d040302": "sha256", "2a8648ce3d040303": "sha384", "2a8648ce3d040304": "sha512",
};
function certificate(raw) {
  const [tbs, algorithm, signature] = parts(der(raw), 0x30, 3);
  const fields = parts(tbs);
  if (fields[0]?.tag === 0xa0) fields.shift();
  const [serial, inner, issuer, validity, subject, info, ...more] = fields;
  need(info !== undefined && inner.raw.equals(algorithm.raw), "certificate");
  const [notBefore, notAfter] = parts(validity, 0x30, 2).map(derTime);
  const extensions = {};
  for (const outer of more) {
    if (outer.tag !== 0xa3) continue;
    for (const one of parts(parts(outer, 0xa3, 1)[0])) {
      const values = parts(one);
      need(values.length >= 2, "extension");
      extensions[oid(values[0])] = is(values.at(-1), 4);
    }
  }
  const constraints = extensions["551d13"] ? parts(der(extensions["551d13"])) : [];
  const usages = extensions["551d25"] ? parts(der(extensions["551d25"])).map(oid) : [];
  is(issuer, 0x30);
  is(subject, 0x30);
  return {
    raw, signed: tbs.raw, algorithm: oid(parts(algorithm)[0]), signature: bits(signature), serial: integer(serial),
    issuer: issuer.raw, subject: subject.raw, notBefore, notAfter, key: publicKey(info),
    isCa: constraints[0]?.tag === 1 && constraints[0].content.equals(Buffer.from([255])),
    stampsTime: usages.length === 1 && usages[0] === "2b06010505070308",
  };
}
const validAt = (one, at) => one.notBefore <= at && at <= one.notAfter;
const issued = (above, below) => ALGORITHMS[below.algorithm] !== undefined && above.isCa
  && above.subject.equals(below.issuer) && verifies(above.key, below.signature, below.signed, ALGORITHMS[below.algorithm]);

// XML ----------------------------------------------------------------------------------------------------------------
const XML = "http://www.w3.org/XML/1998/namespace";
const NAME = "(?:[A-Za-z_][A-Za-z0-9._-]{0,63}:)?[A-Za-z_][A-Za-z0-9._-]{0,63}";
const TAG = new RegExp(`<(${NAME})((?:[ \\t\\r\\n]+${NAME}[ \\t\\r\\n]*=[ \\t\\r\\n]*(?:"[^"<]*"|'[^'<]*'))*)[ \\t\\r\\n]*(/?)>`, "y");
const ATTRIBUTE = new RegExp(`(${NAME})[ \\t\\r\\n]*=[ \\t\\r\\n]*(?:"([^"<]*)"|'([^'<]*)')`, "g");
const END = new RegExp(`</(${NAME})[ \\t\\r\\n]*>`, "y");
const DECLARATION = /^<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*["']1\.0["'](?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*["'][uU][tT][fF]-?8["'])?(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*["'](?:yes|no)["'])?[ \t\r\n]*\?>/;
const NOT_CHARACTER = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const BLANK = /^[ \t\r\n]*$/;

function references(text) {
  return text.replace(/&([^;&]*);?/g, (whole, name) => {
    need(whole.endsWith(";"), "reference");
    if (Object.hasOwn(ENTITIES, name)) return ENTITIES[name];
    const found = /^#(?:x([0-9a-fA-F]+)|([0-9]+))$/.exec(name);
    need(found, "reference");
    const code = parseInt(found[1] ?? found[2], found[1] ? 16 : 10);
    need(code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff), "reference");
    const character = String.fromCodePoint(code);
    need(!NOT_CHARACTER.test(character), "reference");
    return character;
  });
}
function split(name) {
  const at = name.indexOf(":");
  return at < 0 ? ["", name] : [name.slice(0, at), name.slice(at + 1)];
}
function bound(prefix, scope) {
  const uri = prefix === "xml" ? XML : scope.get(prefix);
  need(uri !== undefined, "prefix");
  return uri;
}
function parseXml(raw) {
  need(raw.length <= 16 * MIB, "long");
  if (raw.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf]))) raw = raw.subarray(3);
  let source;
  try {
    source = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(raw);
  } catch {
    throw new Broken("UTF-8");
  }
  need(!NOT_CHARACTER.test(source), "character");
  let at = 0, root, elements = 0;
  if (source.startsWith("<?xml")) {
    const found = DECLARATION.exec(source);
    need(found, "declaration");
    at = found[0].length;
  }
  source = source.replace(/\r\n?/g, "\n");
  if (at) at = source.indexOf("?>") + 2;
  const open = [];
  while (at < source.length) {
    const parent = open.at(-1);
    if (source[at] !== "<") {
      const next = source.indexOf("<", at), text = source.slice(at, next < 0 ? undefined : next);
      if (parent) {
        need(next >= 0 && !text.includes("]]>"), "text");
        parent.content.push(references(text));
      } else need(BLANK.test(text), "text beside the root");
      at = next < 0 ? source.length : next;
    } else if (source.startsWith("<![CDATA[", at)) {
      const end = source.indexOf("]]>", at);
      need(parent && end >= 0, "CDATA");
      parent.content.push(source.slice(at + 9, end));
      at = end + 3;
    } else if (source.startsWith("</", at)) {
      END.lastIndex = at;
      const found = END.exec(source);
      need(found && parent && found[1] === parent.name, "end tag");
      open.pop();
      at = END.lastIndex;
      finish(parent);
    } else {
      TAG.lastIndex = at;
      const found = TAG.exec(source);
      need(found && (parent || !root) && ++elements <= 200000 && open.length < 32, "tag");
      const made = element(found[1], found[2], parent);
      if (parent) parent.content.push(made);
      else root = made;
      at = TAG.lastIndex;
      if (!found[3]) open.push(made);
    }
  }
  need(root && !open.length, "end");
  return root;
}
function element(name, written, parent) {
  const declared = new Map(), plain = [], names = new Set();
  for (const [, key, double, single] of written.matchAll(ATTRIBUTE)) {
    need(!names.has(key), "attribute twice");
    names.add(key);
    const value = references((double ?? single).replace(/[\t\n\r]/g, " "));
    const [prefix, local] = split(key);
    if (key === "xmlns" || prefix === "xmlns") {
      const declares = prefix ? local : "";
      need(!["xml", "xmlns"].includes(declares) && value !== XML && value !== "http://www.w3.org/2000/xmlns/", "xmlns");
      need(value || !declares, "xmlns");
      declared.set(declares, value);
    } else plain.push([prefix, local, value]);
  }
  need(names.size <= 32, "attributes");
  const scope = declared.size ? new Map([...(parent?.scope ?? []), ...declared]) : parent?.scope ?? new Map();
  need(scope.size <= 32, "namespaces");
  const [prefix, local] = split(name);
  const space = prefix ? bound(prefix, scope) : scope.get("") ?? "";
  const attributes = plain.map(([p, n, value]) => ({ prefix: p, local: n, space: p ? bound(p, scope) : "", value }));
  need(new Set(attributes.map((one) => `${one.space} ${one.local}`)).size === attributes.length, "attribute twice");
  return { name, prefix, local, space: prefix === "xml" ? "" : space, scope, attributes, content: [] };
}
function finish(made) {
  const merged = [];
  for (const one of made.content) {
    if (typeof one === "string" && typeof merged.at(-1) === "string") merged.push(merged.pop() + one);
    else merged.push(one);
  }
  const hasElements = merged.some((one) => typeof one !== "string");
  made.content = merged.filter((one) => one !== "" && !(hasElements && typeof one === "string" && BLANK.test(one)));
}
const FOR_TEXT = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#xD;" };
const FOR_VALUE = { "&": "&amp;", "<": "&lt;", '"': "&quot;", "\t": "&#x9;", "\n": "&#xA;", "\r": "&#xD;" };
const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

function canonical(apex, exclusive, without) {
  const out = [];
  const write = (one, shown) => {
    let wanted = one.scope;
    if (exclusive) {
      const used = new Set([one.prefix, ...one.attributes.map((a) => a.prefix).filter(Boolean)]);
      used.delete("xml");
      wanted = new Map([...used].map((prefix) => [prefix, one.scope.get(prefix) ?? ""]));
    }
    const fresh = [...wanted].filter(([prefix, uri]) => (shown.get(prefix) ?? "") !== uri);
    if (fresh.length) shown = new Map([...shown, ...fresh]);
    out.push("<", one.name);
    for (const [prefix, uri] of fresh.sort((a, b) => compare(a[0], b[0]))) {
      out.push(` xmlns${prefix && ":"}${prefix}="${uri.replace(/[&<"\t\n\r]/g, (c) => FOR_VALUE[c])}"`);
    }
    const sorted = [...one.attributes].sort((a, b) => compare(a.space, b.space) || compare(a.local, b.local));
    for (const a of sorted) {
      out.push(` ${a.prefix}${a.prefix && ":"}${a.local}="${a.value.replace(/[&<"\t\n\r]/g, (c) => FOR_VALUE[c])}"`);
    }
    out.push(">");
    for (const inner of one.content) {
      if (typeof inner === "string") out.push(inner.replace(/[&<>\r]/g, (c) => FOR_TEXT[c]));
      else if (inner !== without) write(inner, shown);
    }
    out.push(`</${one.name}>`);
  };
  write(apex, new Map());
  return Buffer.from(out.join(""), "utf8");
}

// Signatures of documents --------------------------------------------------------------------------------------------
const DSIG = "http://www.w3.org/2000/09/xmldsig#";
const EXCLUSIVE = new Map([
  ["http://www.w3.org/TR/2001/REC-xml-c14n-20010315", false], ["http://www.w3.org/2001/10/xml-exc-c14n#", true],
]);
const ask = (holds) => { if (!holds) throw new Unsigned(); };
const elementsOf = (one) => one.content.filter((inner) => typeof inner !== "string");
const textOf = (one) => one.content.filter((inner) => typeof inner === "string").join("");
const inDsig = (one, local) => one.space === DSIG && one.local === local;
function children(parent, ...names) {
  const found = elementsOf(parent);
  ask(found.length === parent.content.length && found.length === names.length);
  ask(found.every((one, n) => inDsig(one, names[n])));
  return found;
}
function algorithm(one) {
  ask(one.attributes.length === 1 && one.attributes[0].prefix === "" && one.attributes[0].local === "Algorithm");
  ask(one.content.length === 0);
  return one.attributes[0].value;
}
function base64(one) {
  const text = textOf(one).replace(/[ \t\r\n]/g, ""), value = Buffer.from(text, "base64");
  ask(!one.attributes.length && !elementsOf(one).length && value.length && value.toString("base64") === text);
  return value;
}
function verifyDocument(raw) {
  const root = parseXml(raw);
  ask(["ECF", "RFCE", "ACECF", "ANECF", "ARECF"].includes(root.local) && root.space === "");
  ask(!root.attributes.some((one) => one.prefix === "xml"));
  const all = [], found = [];
  for (const waiting = [root]; waiting.length;) for (const one of elementsOf(waiting.pop())) { waiting.push(one); all.push(one); }
  found.push(...all.filter((one) => inDsig(one, "Signature")));
  ask(found.length === 1 && root.content.at(-1) === found[0] && !found[0].attributes.length);
  const [info, value, keyInfo] = children(found[0], "SignedInfo", "SignatureValue", "KeyInfo");
  ask(!info.attributes.length);
  const [method, signing, reference] = children(info, "CanonicalizationMethod", "SignatureMethod", "Reference");
  ask(EXCLUSIVE.has(algorithm(method)) && algorithm(signing) === "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256");
  const [uri] = reference.attributes;
  ask(reference.attributes.length === 1 && uri.prefix === "" && uri.local === "URI" && uri.value === "");
  const [transforms, hashing, digest] = children(reference, "Transforms", "DigestMethod", "DigestValue");
  ask(!transforms.attributes.length);
  const names = children(transforms, ...elementsOf(transforms).map(() => "Transform")).map(algorithm);
  ask(algorithm(hashing) === "http://www.w3.org/2001/04/xmlenc#sha256");
  ask(names[0] === "http://www.w3.org/2000/09/xmldsig#enveloped-signature" && names.length <= 2);
  ask(names.length === 1 || EXCLUSIVE.has(names[1]));
  const expected = base64(digest), signature = base64(value);
  const listed = elementsOf(keyInfo).filter((one) => inDsig(one, "X509Data"))
    .flatMap((one) => elementsOf(one).filter((inner) => inDsig(inner, "X509Certificate")));
  ask(listed.length >= 1 && listed.length <= 8);
  const usable = listed.flatMap((one) => {
    try {
      const der = base64(one);
      const read = der.length <= 16384 ? certificate(der) : undefined;
      return read?.key.kind === "rsa" ? [read] : [];
    } catch (wrong) {
      if (wrong instanceof Broken || wrong instanceof Unsigned) return [];
      throw wrong;
    }
  });
  ask(usable.length);
  ask(sha256(canonical(root, names.length === 2 && EXCLUSIVE.get(names[1]), found[0])).equals(expected));
  const data = canonical(info, EXCLUSIVE.get(algorithm(method)));
  const signer = usable.find((one) => verifies(one.key, signature, data));
  ask(signer !== undefined);
  return { root, signer };
}

// Manifest -----------------------------------------------------------------------------------------------------------
const FILES = ["original.bin", "signed.xml", "summary.xml", "acknowledgement.xml", "approval.xml", "timeline.json", "answer.json"];
const MAY = {
  "issued false": FILES.slice(0, 6), "voided false": ["signed.xml", "answer.json"], "voided true": [], "received false": ["signed.xml", "acknowledgement.xml"],
  "issued true": ["acknowledgement.xml", "approval.xml", "timeline.json"], "received true": ["acknowledgement.xml"],
};
const MUST = {
  "voided false": ["signed.xml", "answer.json"],
  "issued false": ["signed.xml", "timeline.json"], "received false": ["signed.xml", "acknowledgement.xml"] };
const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const GOOD_NAME = new RegExp(`^(?:(?:issued|received|voided)/(?:E[0-9]{12}-)?${UUID}/(?:${FILES.join("|").replaceAll(".", "\\.")})|(?:certificates|revocations)/[0-9a-f]{64}\\.der|archive-key\\.der|manifest\\.(?:json|sig))$`);
const write = (value) => {
  if (typeof value === "number") need(Number.isSafeInteger(value), "number");
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.keys(value).sort(compare).map((name) => `${JSON.stringify(name)}:${write(value[name])}`).join(",")}}`;
};
const object = (value, names) => {
  need(value !== null && typeof value === "object" && !Array.isArray(value), "object");
  need(Object.keys(value).sort(compare).join(" ") === names.split(" ").sort(compare).join(" "), "members");
  return value;
};
const text = (value, form) => { need(typeof value === "string" && form.test(value), "text"); return value; };
const nullable = (value, form) => (value === null ? null : text(value, form));
const list = (value, most) => { need(Array.isArray(value) && value.length <= most, "list"); return value; };
const whole = (value, least) => { need(Number.isSafeInteger(value) && value >= least, "integer"); return value; };
const oneOf = (value, ...known) => { need(known.includes(value), "value"); return value; };
const HASH = /^[0-9a-f]{64}$/;
function day(value) {
  const [, ...told] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text(value, /^\d{4}-\d\d-\d\d$/));
  instant(...told.map(Number));
  return value;
}
function moment(value) {
  const form = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{6})Z$/;
  const [, ...told] = form.exec(text(value, form));
  return instant(...told.slice(0, 6).map(Number)) + Number(told[6]) / 1000;
}
function filesOf(value) {
  need(value !== null && typeof value === "object" && !Array.isArray(value), "files");
  for (const said of Object.values(value)) {
    object(said, "bytes sha256");
    whole(said.bytes, 1);
    text(said.sha256, HASH);
  }
  return value;
}
function readEntry(value) {
  const common = "kind id addition eNCF issuerRNC files", isAddition = value?.addition === true;
  object(value, isAddition ? common : `${common} root type status total chain revocation absent`);
  const kind = oneOf(value.kind, "issued", "received", "voided"), isIssued = kind === "issued";
  nullable(value.eNCF, /^E[0-9]{12}$/);
  text(value.id, new RegExp(`^${UUID}$`));
  text(value.issuerRNC, /^[0-9]{1,11}$/);
  const names = Object.keys(filesOf(value.files)), group = `${kind} ${value.addition}`;
  need(value.addition === isAddition && names.length && names.every((name) => MAY[group].includes(name)), "files");
  need((MUST[group] ?? []).every((name) => names.includes(name)), "files");
  value.folder = `${kind}/${value.eNCF === null ? "" : `${value.eNCF}-`}${value.id}`;
  if (isAddition) return Object.assign(value, { root: null, status: null, total: null, chain: [], revocation: null });
  if (value.revocation !== null) {
    object(value.revocation, "source file askedAt");
    oneOf(value.revocation.source, "ocsp", "crl");
    moment(value.revocation.askedAt);
    text(value.revocation.file, /^revocations\/[0-9a-f]{64}\.der$/);
  }
  list(value.chain, 8).forEach((one) => text(one, /^certificates\/[0-9a-f]{64}\.der$/));
  const absent = isIssued && !names.includes("original.bin") ? ["original"] : [];
  if (!value.chain.length) absent.push("certificate-chain");
  if (value.revocation === null) absent.push("revocation-answer");
  need(JSON.stringify(value.absent) === JSON.stringify(absent), "absent");
  oneOf(value.root, ...{ issued: ["ECF", "RFCE", "ACECF", "ANECF"], received: ["ECF"], voided: ["ANECF"] }[kind]);
  need(value.type === (value.eNCF === null ? null : value.eNCF.slice(1, 3)), "type");
  if (isIssued) oneOf(value.status, "Aceptado", "Aceptado Condicional", "Rechazado", "error", "queued", "En Proceso");
  else if (kind === "voided") oneOf(value.status, "voided", "partly voided", "rejected");
  else need(value.status === null, "status");
  nullable(value.total, /^(?:0|[1-9][0-9]{0,15})\.[0-9]{2}$/);
  need(["ECF", "RFCE"].includes(value.root) === (value.total !== null), "total");
  need(value.total === null || value.eNCF !== null, "number");
  return value;
}
function readManifest(raw) {
  need(raw.every((byte) => byte < 128) && !raw.includes(92), "ASCII");
  let value;
  try {
    value = JSON.parse(raw.toString("latin1"));
  } catch {
    throw new Broken("JSON");
  }
  need(write(value) === raw.toString("latin1"), "canonical");
  object(value, "format tenantId environment sequence previous day madeAt key counts totals receipts shared");
  object(value.key, "id algorithm");
  oneOf(value.format, "fe-archive-1");
  oneOf(value.key.algorithm, "rsa-pkcs1v15-sha256");
  oneOf(value.environment, "ecf", "certecf", "testecf");
  text(value.key.id, HASH);
  whole(value.tenantId, 1);
  nullable(value.previous, HASH);
  need((whole(value.sequence, 1) === 1) === (value.previous === null), "previous");
  day(value.day);
  value.made = moment(value.madeAt);
  const sums = new Map();
  list(value.receipts, 10000).forEach(readEntry);
  value.receipts.forEach((one, n) => {
    const before = value.receipts[n - 1];
    need(n === 0 || before.kind < one.kind || (before.kind === one.kind && before.id < one.id), "order");
    if (one.total === null) return;
    const group = JSON.stringify([one.kind, one.type, one.status ?? ""]);
    const [count, cents] = sums.get(group) ?? [0, 0n];
    sums.set(group, [count + 1, cents + BigInt(one.total.replace(".", ""))]);
  });
  const named = new Set(value.receipts.flatMap((one) => [...one.chain, ...(one.revocation ? [one.revocation.file] : [])]));
  named.add("archive-key.der");
  const shared = Object.entries(filesOf(value.shared));
  need(shared.length === named.size && shared.every(([name]) => named.has(name)), "shared");
  need(shared.every(([name, said]) => name === "archive-key.der" || name.includes(said.sha256)), "shared");
  const said = [...value.receipts.flatMap((one) => Object.values(one.files)), ...Object.values(value.shared)];
  const counts = {
    receipts: value.receipts.length, additions: value.receipts.filter((one) => one.addition).length,
    files: said.length, bytes: said.reduce((sum, one) => sum + one.bytes, 0),
  };
  const totals = [...sums].map(([group, [count, cents]]) => {
    const [kind, type, status] = JSON.parse(group), digits = cents.toString().padStart(3, "0");
    return { kind, type, status: status || null, receipts: count, total: `${digits.slice(0, -2)}.${digits.slice(-2)}` };
  }).sort((a, b) => compare(a.kind, b.kind) || compare(a.type, b.type) || compare(a.status ?? "", b.status ?? ""));
  value.countsHold = write(value.counts) === write(counts) && write(value.totals) === write(totals);
  return value;
}

// Timelines ----------------------------------------------------------------------------------------------------------
function readTimeline(raw, tenant, id) {
  let value;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(raw));
  } catch {
    throw new Broken("JSON");
  }
  object(value, "format tenantId taxLogId events");
  need(value.format === "fe-timeline-1" && value.tenantId === tenant && value.taxLogId === id, "another's");
  need(Array.isArray(value.events) && value.events.length, "events");
  let previous = Buffer.alloc(0), signedAt = null;
  const events = value.events.map((event, n) => {
    object(event, "seq at kind detail hash");
    need(event.seq === n + 1 && typeof event.kind === "string" && typeof event.detail === "string", "event");
    text(event.hash, HASH);
    text(event.at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    const lines = [tenant, id, event.seq, event.at, event.kind, event.detail].join("\n");
    need(lines.isWellFormed?.() ?? true, "surrogate");
    previous = sha256(Buffer.concat([previous, Buffer.from(lines, "utf8")]));
    need(previous.toString("hex") === event.hash, "hash");
    let detail;
    try {
      detail = JSON.parse(event.detail);
    } catch {
      throw new Broken("detail");
    }
    need(detail !== null && typeof detail === "object" && !Array.isArray(detail), "detail");
    if (event.kind === "signed") signedAt = moment(event.at);
    return [event.kind, detail];
  });
  return { events, signedAt };
}
function timelineHolds({ events }, entry) {
  const digest = (name) => entry.files[name]?.sha256 ?? null;
  const signed = digest("signed.xml"), summary = digest("summary.xml"), original = digest("original.bin");
  let wasSigned = false, verdict = null;
  for (const [kind, detail] of events) {
    const told = detail.sha256 ?? null;
    if (kind === "accepted" && original !== null && told !== original) return false;
    if (kind === "signed") {
      wasSigned = true;
      if (told !== signed || (detail.summarySha256 ?? null) !== summary) return false;
    }
    if (kind === "sending" && told !== signed && told !== summary) return false;
    if (kind === "verdict") verdict = detail.status ?? null;
  }
  const isFinal = ["Aceptado", "Aceptado Condicional", "Rechazado"].includes(entry.status);
  return wasSigned && (verdict === null && !isFinal ? true : verdict === entry.status);
}

function answerHolds(raw, tenant, { id, status }) {
  let value;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(raw));
  } catch {
    throw new Broken("JSON");
  }
  object(value, "format tenantId id status reason requestedAt finishedAt answer");
  need(value.format === "fe-voiding-1" && value.tenantId === tenant && value.id === id && value.status === status, "another's");
}

// Time stamps --------------------------------------------------------------------------------------------------------
const DIGESTS = { "608648016503040201": "sha256", "608648016503040202": "sha384", "608648016503040203": "sha512" };
function readStamp(raw, imprint) {
  const [kind, wrapped] = parts(der(raw), 0x30, 2);
  const [signed] = parts(wrapped, 0xa0, 1);
  need(oid(kind) === "2a864886f70d010702", "signed data");
  const [, , content, ...rest] = parts(signed);
  const [contentKind, contentWrapped] = parts(content, 0x30, 2);
  const info = is(parts(contentWrapped, 0xa0, 1)[0], 4);
  need(oid(contentKind) === "2a864886f70d0109100104", "time stamp");
  const certificates = rest.filter((one) => one.tag === 0xa0).flatMap((one) => parts(one, 0xa0)).map((one) => certificate(one.raw));
  const [, , message, , time] = parts(der(info));
  const [hash, digest] = parts(message, 0x30, 2);
  need(DIGESTS[oid(parts(hash)[0])] === "sha256" && is(digest, 4).equals(imprint), "imprint");
  const at = derTime(time);
  const fields = parts(parts(rest.at(-1), 0x31, 1)[0]);
  need(fields.length >= 6, "signer");
  const [, name, hashing, attributes, used, signature] = fields;
  const [issuer, serial] = parts(name, 0x30, 2);
  const hashed = DIGESTS[oid(parts(hashing)[0])];
  need(hashed, "digest");
  const values = Object.fromEntries(parts(attributes, 0xa0).map((one) => {
    const [type, set] = parts(one, 0x30, 2);
    return [oid(type), parts(set, 0x31)];
  }));
  const contentType = values["2a864886f70d010903"] ?? [], told = values["2a864886f70d010904"] ?? [];
  need(contentType.length === 1 && oid(contentType[0]) === "2a864886f70d0109100104" && told.length === 1, "attributes");
  need(is(told[0], 4).equals(createHash(hashed).update(info).digest()), "content");
  const number = integer(serial);
  const signer = certificates.find((one) => one.issuer.equals(issuer.raw) && one.serial === number);
  need(signer && signer.stampsTime && validAt(signer, at), "signer");
  const algorithm = oid(parts(used)[0]);
  const over = algorithm === "2a864886f70d010101" && signer.key.kind === "rsa" ? hashed : ALGORITHMS[algorithm];
  need(over && verifies(signer.key, is(signature, 4), Buffer.concat([Buffer.from([0x31]), attributes.raw.subarray(1)]), over), "signature");
  return at;
}

// Packages -----------------------------------------------------------------------------------------------------------
const TIME_OF = {
  ECF: ["FechaHoraFirma"], ACECF: ["DetalleAprobacionComercial", "FechaHoraAprobacionComercial"],
  ARECF: ["DetalleAcusedeRecibo", "FechaHoraAcuseRecibo"], ANECF: ["Encabezado", "FechaHoraAnulacioneNCF"],
};
const NUMBER_OF = {
  ECF: ["Encabezado", "IdDoc", "eNCF"], RFCE: ["Encabezado", "IdDoc", "eNCF"],
  ACECF: ["DetalleAprobacionComercial", "eNCF"], ARECF: ["DetalleAcusedeRecibo", "eNCF"],
};
const ISSUER_OF = {
  ECF: ["Encabezado", "Emisor", "RNCEmisor"], RFCE: ["Encabezado", "Emisor", "RNCEmisor"],
  ACECF: ["DetalleAprobacionComercial", "RNCEmisor"], ARECF: ["DetalleAcusedeRecibo", "RNCEmisor"],
  ANECF: ["Encabezado", "RncEmisor"],
};
const ROOT_OF = { "summary.xml": "RFCE", "acknowledgement.xml": "ARECF", "approval.xml": "ACECF" };
function textAt(root, path) {
  let found = root;
  for (const name of path) found = found && elementsOf(found).find((one) => one.local === name && one.space === "");
  return found ? textOf(found).replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, "") : null;
}
function amount(root) {
  const found = /^([0-9]{1,18})(?:\.([0-9]{1,2}))?$/.exec(textAt(root, ["Encabezado", "Totales", "MontoTotal"]) ?? "");
  return found ? `${BigInt(found[1])}.${(found[2] ?? "").padEnd(2, "0")}` : null;
}
function toldTime(root) {
  const path = TIME_OF[root.local], found = path && /^(\d\d)-(\d\d)-(\d{4}) (\d\d):(\d\d):(\d\d)$/.exec(textAt(root, path) ?? "");
  if (!found) return null;
  const [date, month, year, hour, minute, second] = found.slice(1).map(Number);
  try {
    return instant(year, month, date, hour, minute, second) + 4 * 3600 * 1000;
  } catch {
    return null;
  }
}
const trying = (work, broken) => {
  try {
    return work();
  } catch (wrong) {
    if (wrong instanceof Broken || wrong instanceof Unsigned) return broken(wrong);
    throw wrong;
  }
};

function checkPackage(bytes, token) {
  const faults = [], add = (code, where = "") => { faults.push(`${code} ${where}`.trim()); };
  const report = { faults, manifest: null, digest: null };
  const container = trying(() => new Container(bytes), () => add("zip"));
  if (!container) return report;
  const names = [...container.files.keys()];
  names.filter((name) => !GOOD_NAME.test(name)).forEach(() => add("name"));
  const read = (name) => {
    if (container.files.has(name)) return trying(() => container.read(name), () => { add("zip"); });
    add(name === "manifest.json" ? "manifest" : "files");
    return undefined;
  };
  const raw = read("manifest.json");
  if (!raw) return report;
  const manifest = trying(() => readManifest(raw), () => add("manifest"));
  if (!manifest) return report;
  Object.assign(report, { manifest, digest: hex(raw) });
  const key = read("archive-key.der"), signature = read("manifest.sig");
  if (key && signature) {
    const known = trying(() => {
      const found = publicKey(der(key));
      need(found.kind === "rsa" && found.size >= 3072 && hex(key) === manifest.key.id, "key");
      return found;
    }, () => add("key"));
    if (known && !verifies(known, signature, raw)) add("manifest-signature");
  }
  if (token) trying(() => need(readStamp(token, sha256(raw)) >= manifest.made - 3600000, "old"), () => add("time-stamp"));
  const wanted = [
    ...manifest.receipts.flatMap((one) => FILES.filter((name) => name in one.files).map((name) => `${one.folder}/${name}`)),
    ...Object.keys(manifest.shared).filter((name) => name !== "archive-key.der").sort(compare),
    "archive-key.der", "manifest.json", "manifest.sig",
  ];
  const found = names.filter((name) => GOOD_NAME.test(name));
  if (found.join("\n") !== wanted.join("\n")) add("files");
  if (!manifest.countsHold) add("counts");
  const content = (name, said, where) => {
    if (!container.files.has(name)) {
      if (where) add("digest", where);
      return undefined;
    }
    const bytes = trying(() => container.read(name), () => { add("zip"); }) ?? Buffer.alloc(0);
    if (bytes.length === said.bytes && hex(bytes) === said.sha256) return bytes;
    add("digest", where);
    return undefined;
  };
  const shared = new Map();
  for (const [name, said] of Object.entries(manifest.shared)) {
    const bytes = content(name, said, "");
    if (bytes) shared.set(name, bytes);
  }
  for (const entry of manifest.receipts) checkEntry(entry, manifest, shared, content, add);
  return report;
}

function checkEntry(entry, manifest, shared, content, add) {
  const where = entry.folder, files = new Map();
  for (const [name, said] of Object.entries(entry.files)) {
    const bytes = content(`${where}/${name}`, said, where);
    if (bytes) files.set(name, bytes);
  }
  if (files.size < Object.keys(entry.files).length) return;
  let ownTime = null;
  if (files.has("timeline.json")) {
    trying(() => {
      const timeline = readTimeline(files.get("timeline.json"), manifest.tenantId, entry.id);
      ownTime = timeline.signedAt;
      need(entry.addition || timelineHolds(timeline, entry), "timeline");
    }, () => add("timeline", where));
  }
  if (files.has("answer.json")) {
    trying(() => answerHolds(files.get("answer.json"), manifest.tenantId, entry), () => add("document", where));
  }
  for (const name of ["signed.xml", "summary.xml", "acknowledgement.xml", "approval.xml"]) {
    if (!files.has(name)) continue;
    const signed = trying(() => verifyDocument(files.get(name)), (wrong) => { add(wrong instanceof Broken ? "xml" : "signature", where); });
    if (!signed) continue;
    const { root, signer } = signed, isOwn = name === "signed.xml" || name === "summary.xml";
    const is = (told) => told || add("document", where);
    if (root.local !== (name === "signed.xml" ? entry.root : ROOT_OF[name])) add("document", where);
    else {
      is(entry.eNCF === null || !NUMBER_OF[root.local] || textAt(root, NUMBER_OF[root.local]) === entry.eNCF);
      is(textAt(root, ISSUER_OF[root.local]) === entry.issuerRNC);
      is(!isOwn || entry.total === null || amount(root) === entry.total);
    }
    const told = toldTime(root);
    let at = told;
    if (name === "signed.xml") {
      if (entry.root === "RFCE") at = ownTime;
      ownTime = at;
      if (at === null) { add("certificate", where); continue; }
    } else if (name === "summary.xml") at = ownTime;
    if (at === null) continue;
    const holds = trying(() => {
      const above = (isOwn ? entry.chain : []).filter((one) => shared.has(one)).map((one) => certificate(shared.get(one)));
      need(validAt(signer, at), "validity");
      above.reduce((below, one) => { need(issued(one, below) && validAt(one, at), "chain"); return one; }, signer);
      return true;
    }, () => false);
    if (!holds) add("certificate", where);
  }
}

class Chain {
  seen = new Set();

  add(report) {
    const { manifest, faults } = report;
    if (!manifest) return;
    this.first ??= manifest;
    if (manifest.tenantId !== this.first.tenantId || manifest.environment !== this.first.environment) {
      faults.push("tenant");
      return;
    }
    if (this.last) {
      if (manifest.sequence !== this.last.sequence + 1 || manifest.day < this.last.day) faults.push("sequence");
      else if (manifest.previous !== this.digest) faults.push("previous");
    }
    for (const { kind, id, addition, folder } of manifest.receipts) {
      const place = `${kind} ${id}`;
      if (addition && this.first.sequence === 1 && !this.seen.has(place)) faults.push(`addition ${folder}`);
      if (!addition && this.seen.has(place)) faults.push(`twice ${folder}`);
      if (!addition) this.seen.add(place);
    }
    Object.assign(this, { last: manifest, digest: report.digest });
  }
}

const paths = process.argv.slice(2), isChain = paths[0] === "--chain";
let chain = new Chain();
for (const path of isChain ? paths.slice(1) : paths) {
  if (!isChain) chain = new Chain();
  const beside = path.replace(/\.zip$/, ".tst");
  const report = checkPackage(readFileSync(path), existsSync(beside) ? readFileSync(beside) : undefined);
  chain.add(report);
  process.stdout.write(`${JSON.stringify([...new Set(report.faults)].sort(compare))}\n`);
}
