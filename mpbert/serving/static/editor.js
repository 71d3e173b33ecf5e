// The text: positions in it that move with edits, and keys that are written into it.

const text = document.getElementById("text");
const SIMPLE_KEY = /^[\p{L}\p{N}_](?:[\p{L}\p{N}_:.#$%&+?<>~/-]*[\p{L}\p{N}_/])?$/u;
const ENDS_WORD = /[\p{L}\p{N})\]}"'”’.,;:!?$]/u;
const STARTS_WORD = /[\p{L}\p{N}(]/u;
const sites = new Set(); // {start, end, isLost, ...}: where keys may go; isLost: edited since
let written = []; // {start, end, isLost, paperId, shown, before, between, behind, replaced}
let known = text.value; // the text that the positions are of

// The API counts characters, JavaScript counts units of UTF-16.
export function toCharacters(units) {
  return Array.from(text.value.slice(0, units)).length;
}

// Let the positions follow what was typed since they were last looked at.
export function follow() {
  const now = text.value;
  if (now !== known) move([...sites, ...written], ...difference(known, now));
  known = now;
}

// Where two texts differ: from where, how much went, how much came.
function difference(before, now) {
  const most = Math.min(now.length, before.length);
  let start = 0;
  while (start < most && now[start] === before[start]) start++;
  let same = 0;
  while (same < most - start && now.at(-1 - same) === before.at(-1 - same)) same++;
  return [start, before.length - start - same, now.length - start - same];
}

function move(places, start, removed, inserted) {
  for (const place of places) {
    if (start + removed <= place.start) {
      place.start += inserted - removed;
      place.end += inserted - removed;
    } else if (start < place.end) place.isLost = true;
  }
}

function replace(start, end, string) {
  follow();
  text.setRangeText(string, start, end, "end");
  move([...sites, ...written], start, end - start, string.length);
  known = text.value;
}

// Remember where the keys of an answered place go; a site is in characters of the text asked about.
export function addSite(site, asked) {
  follow();
  if (!site) return null;
  const [start, end] = [site.start, site.end].map((place) => toUnits(asked, place));
  const added = { ...site, start, end, isLost: false };
  if (asked !== known) move([added], ...difference(asked, known));
  sites.add(added);
  return added;
}

function toUnits(string, characters) {
  return Array.from(string).slice(0, characters).join("").length;
}

// Bring a site into the middle of the field, where the writer is not in it.
export function scrollToSite(site) {
  if (!site || document.activeElement === text) return;
  const [shape, mark] = [document.createElement("div"), document.createElement("span")];
  const { font, padding } = getComputedStyle(text);
  Object.assign(shape.style, { font, padding, width: `${text.clientWidth}px` });
  shape.className = "shape";
  mark.textContent = "|";
  shape.append(text.value.slice(0, site.start), mark);
  document.body.append(shape);
  text.scrollTop = mark.offsetTop - text.clientHeight / 2;
  shape.remove();
}

// The names of the files that a text of LaTeX includes, without comments.
export function includedFiles() {
  const lines = text.value.replace(/(?<!\\)%.*/g, "");
  const names = lines.matchAll(/\\(?:input|include|subfile)\s*\{([^{}]+)\}/g);
  return [...new Set(Array.from(names, (found) => found[1].trim()))];
}

export function clearSites() {
  sites.clear();
}

// Write a key at a site; return where it is now, null where the text has changed too much.
export function writeKey(site, key, paperId) {
  follow();
  if (!site || site.isLost) return null;
  let { before, behind } = site;
  const { between, sign, start, end } = site;
  const shown = sign && !SIMPLE_KEY.test(key) ? `${sign}{${key}}` : `${sign}${key}`;
  if (start === end && behind) {
    if (start && ENDS_WORD.test(known[start - 1])) before = (before.startsWith("\\") ? "~" : " ") + before;
    if (STARTS_WORD.test(known[end] ?? "")) behind += " ";
  }
  const replaced = known.slice(start, end);
  site.isLost = true; // the next answer tells where more keys go
  replace(start, end, before + shown + behind);
  const at = start + before.length;
  const frame = { before, between, behind, replaced };
  written.push({ ...frame, paperId, shown, start: at, end: at + shown.length, isLost: false });
  return at;
}

// Take the keys of a paper out of the text again; return where the last one was, null if nowhere.
export function removeKeys(paperId) {
  follow();
  let at = null;
  for (const one of written.filter((other) => other.paperId === paperId)) {
    const isThere = !one.isLost && known.slice(one.start, one.end) === one.shown;
    if (isThere) at = remove(one) ?? at;
  }
  written = written.filter((one) => one.paperId !== paperId);
  return at;
}

// Take the key of a paper that was written last out of the text again; return where it was, or null.
export function removeLastKey(paperId) {
  follow();
  const one = written.findLast((other) => other.paperId === paperId);
  if (!one || one.isLost || known.slice(one.start, one.end) !== one.shown) return null;
  const at = remove(one);
  written = written.filter((other) => other !== one);
  return at;
}

function remove(one) {
  const { start, end, before, between, behind, replaced } = one;
  if (known.startsWith(between, end)) {
    // the next key takes its place
    const next = written.find((other) => other.start === end + between.length);
    if (next) Object.assign(next, { before, behind, replaced });
    one.isLost = true;
    replace(start, end + between.length, "");
    return start;
  }
  const [from, to] = [start - before.length, end + behind.length];
  if (known.slice(from, to) !== before + one.shown + behind) return null;
  one.isLost = true;
  replace(from, to, replaced);
  return from;
}

export function writtenKeys() {
  follow();
  return written.filter((one) => !one.isLost);
}

export function setText(value, keys = []) {
  text.value = value;
  known = text.value; // a textarea has its own ends of lines
  written = keys.map((one) => ({ ...one }));
  sites.clear();
}

// What the text looks like: "tex", "markdown" or "text".
export function formatOf(chosen) {
  if (chosen) return chosen;
  const { value } = text;
  if (/\\(?:documentclass|begin|section|emph|textbf|label|ref)\b/.test(value)) return "tex";
  return /^(?:#{1,6} |---$)|\[[^\]]*@\w[^\]]*\]|\]\(/m.test(value) ? "markdown" : "text";
}
