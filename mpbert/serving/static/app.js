// The page: ask, read, accept. Text of papers enters it as textContent alone.

import {
  askAll,
  askAt,
  askMissing,
  askPaper,
  check,
  complain,
  listen,
  placesShown,
  say,
  show,
  shownIds,
  takeOut,
} from "./answers.js";
import { copyText, getJson, postFile, postJson } from "./api.js";
import * as cited from "./cited.js";
import {
  follow,
  formatOf,
  includedFiles,
  removeKeys,
  removeLastKey,
  setText,
  writeKey,
  writtenKeys,
} from "./editor.js";
import { documentType, ENDINGS, formatOfName, onDrop, read, save } from "./files.js";
import { openMap } from "./map.js";
import { forget, remember, remembered } from "./memory.js";

const element = (id) => document.getElementById(id);
const text = element("text");
const FIELDS = ["title", "abstract", "year", "top", "ranker", "format"];
const DEFAULTS = Object.fromEntries(FIELDS.map((id) => [id, element(id).value]));
const MOST_NAMED = 5; // files that are not read
const NO_FILE = { name: "", lineEnd: "\n" };
let file = NO_FILE; // that the text came from
let onMap = null; // paper_id to show when the map opens
let accepted = []; // {paper, isNew, text: as the acceptance left it}: what Ctrl Z takes back
let waiting = 0; // timer: what is written is remembered when typing rests

function refuse(field, message) {
  field.closest("details").open = true; // a folded field can show no message
  element("wrong").hidden = false;
  element("wrong").textContent = message;
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", "wrong");
  field.focus();
}

// Return what is asked; null, with the reason on the page, where a field is wrong.
function question() {
  const wrong = [...element("question").elements].find((field) => !field.validity.valid);
  element("wrong").hidden = !wrong;
  for (const id of FIELDS) element(id).removeAttribute("aria-invalid");
  if (wrong) {
    refuse(wrong, `${wrong.labels[0].textContent}: ${wrong.validationMessage}`);
    return null;
  }
  return {
    text: text.value,
    format: formatOf(element("format").value),
    title: element("title").value,
    abstract: element("abstract").value,
    top: element("top").valueAsNumber,
    year: element("year").value ? element("year").valueAsNumber : null,
    ranker: element("ranker").value,
    keys: cited.knownKeys(),
  };
}

function askAtCursor() {
  const asked = question();
  if (asked) askAt(asked, text.selectionStart);
}

function askEverywhere() {
  const asked = question();
  if (asked) askAll(asked);
}

function askWhole() {
  const asked = question();
  if (!asked) return;
  const { title, abstract, top, year, ranker } = asked;
  if (title.trim() || abstract.trim()) return askPaper({ title, abstract, top, year, ranker });
  refuse(element("title"), "Title: give the title of your paper, its abstract, or both.");
}

function askForMissing() {
  const asked = question();
  if (asked) askMissing(asked);
}

function checkCitations() {
  const asked = question();
  if (!asked) return;
  const { text: words, format, year } = asked;
  check({ text: words, format, year, bibtex: cited.pane() });
}

async function accept(item) {
  const { paper } = item;
  const place = item.closest(".place");
  if (place.isBusy) return; // the next list is under way
  place.isBusy = true;
  try {
    const isNew = !cited.citedIds().includes(paper.paper_id);
    const key = await cited.add(paper);
    if (place.place.isWhole) {
      accepted.push({ paper, isNew, text: text.value });
      showCited();
      takeOut(item);
      return say(`Accepted: ${paper.title}. Its key is ${key}.`);
    }
    const at = writeKey(place.place.site, key, paper.paper_id);
    accepted.push({ paper, isNew, text: text.value });
    showCited();
    element("answer-heading").focus({ preventScroll: true }); // the list goes
    if (at !== null) return await ask(at, `Accepted: ${paper.title}. `, place);
    complain(
      place.place.site
        ? `The text was changed at this place; its citation of ${key} is yours to write.`
        : `No key can be written at this place; its citation of ${key} is yours to write.`,
    );
  } catch (error) {
    complain(error.message);
  } finally {
    place.isBusy = false;
  }
}

// Ask again at a place whose list is shown.
function ask(units, before, instead) {
  const asked = question();
  if (asked) return askAt(asked, units, { before, instead });
}

function drop(paperId) {
  accepted = accepted.filter(({ paper }) => paper.paper_id !== paperId);
  element("cited-heading").focus();
  takeBack(paperId, true, "");
}

// Take a paper from the list, with all its keys; or its last key alone. Its place is asked for again.
function takeBack(paperId, isWhole, before) {
  const place = placesShown().find(({ place }) => place.cited.some((one) => one.paper_id === paperId));
  if (isWhole) cited.remove(paperId);
  const at = isWhole ? removeKeys(paperId) : removeLastKey(paperId);
  showCited();
  if (place && at !== null) ask(at, before, place);
  else say(before);
}

// Take the last acceptance back, unless something else is to be undone first; return whether it was.
function undo() {
  const last = accepted.at(-1);
  if (!last || last.text !== text.value) return false;
  accepted.pop();
  takeBack(last.paper.paper_id, last.isNew, `Taken back: ${last.paper.title}. `);
  return true;
}

function showCited() {
  cited.show(drop);
  keep();
}

async function copy(paperOrText) {
  try {
    const copied = typeof paperOrText === "string" ? paperOrText : await cited.bibtexOf(paperOrText.paper_id);
    if (await copyText(copied)) say("BibTeX copied");
  } catch (error) {
    complain(error.message);
  }
}

listen({
  accept,
  copy: (item) => copy(item.paper),
  map: (item) => (onMap = item.paper.paper_id),
});

// What is kept in this browser

function keep() {
  waiting = clearTimeout(waiting);
  tellIncluded();
  const fields = Object.fromEntries(FIELDS.map((id) => [id, element(id).value]));
  const state = { text: text.value, written: writtenKeys(), file, fields, cited: cited.state() };
  if (!remember(state)) tell("This browser remembers nothing here; save your text.");
}

function recall(state) {
  setText(state.text ?? "", state.written);
  for (const id of FIELDS) element(id).value = state.fields?.[id] ?? DEFAULTS[id];
  file = state.file ?? NO_FILE;
  accepted = [];
  cited.restore(state.cited);
  cited.show(drop);
  tellIncluded();
}

// Say which files of the manuscript are not read here.
function tellIncluded() {
  const names = includedFiles();
  element("not-read").hidden = !names.length;
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  element("not-read").textContent =
    `Not read, since this page has one file at a time: ${names.slice(0, MOST_NAMED).join(", ")}${more}.`;
}

function confirmed(message, yes) {
  const dialog = element("confirm-dialog");
  element("confirm-label").textContent = message;
  element("confirm-yes").textContent = yes;
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.onclose = () => resolve(dialog.returnValue === "yes");
  });
}

element("forget").onclick = async () => {
  if (!(await confirmed("Forget your text and the papers that you accepted?", "Forget"))) return;
  waiting = clearTimeout(waiting);
  recall({});
  forget();
  element("places").replaceChildren();
  show("empty");
  tell("Forgotten.");
  text.focus();
};

element("question").addEventListener("input", () => {
  follow();
  clearTimeout(waiting);
  waiting = setTimeout(keep, 300);
});
window.addEventListener("pagehide", () => waiting && keep());

// Files

function tell(message) {
  element("file-status").textContent = message;
}

async function take(files) {
  for (const one of files) {
    try {
      if (documentType(one.name)) {
        await takeDocument(one);
        continue;
      }
      if (!formatOfName(one.name)) throw new Error(`${one.name}: expected ${ENDINGS.join(", ")}.`);
      const found = await read(one);
      if (formatOfName(one.name) === "bib") await takeBibliography(found);
      else await takeText(found);
    } catch (error) {
      tell(error.message);
    }
  }
  element("files").value = ""; // the same file may come again
}

// Put a text in place of the one that is there; false where somebody does not want that.
async function replaceText(name, words, from, format) {
  const isNew = text.value.trim() && text.value !== words;
  if (isNew && !(await confirmed(`Replace your text by ${name}?`, "Replace"))) return false;
  setText(words);
  file = from;
  element("format").value = format;
  return true;
}

function beginAtStart(message) {
  tell(message);
  keep();
  text.focus();
  text.setSelectionRange(0, 0);
}

async function takeText(found) {
  const from = { name: found.name, lineEnd: found.lineEnd };
  if (!(await replaceText(found.name, found.text, from, formatOfName(found.name)))) return;
  const legacy = found.encoding === "utf-8" ? "" : `, read as ${found.encoding}`;
  beginAtStart(`${found.name}${legacy}`);
}

async function takeDocument(one) {
  tell(`Reading ${one.name} ...`);
  const found = await postFile("api/document", one, documentType(one.name)).catch((error) => {
    throw new Error(`${one.name}: ${error.message}`, { cause: error });
  });
  tell("");
  const from = { name: one.name.replace(/\.\w+$/, ".txt"), lineEnd: "\n" };
  if (!(await replaceText(one.name, found.text, from, "text"))) return;
  element("title").value = found.title;
  element("abstract").value = found.abstract;
  const isWritten = !/\.(?:pdf|zip)$/i.test(one.name);
  const way = isWritten ? ` To write into the file: mpbert cite INDEX ${one.name}` : "";
  const number = found.places === 1 ? "1 citation became a place" : `${found.places} citations became places`;
  beginAtStart(`${one.name}: ${number}.${way}`);
}

async function takeBibliography(found) {
  const { num_entries: number, keys, problem } = await postJson("api/bibliography", { bibtex: found.text });
  cited.setBibliography({ ...found, keys });
  const known = Object.keys(keys).length;
  tell(`${found.name}: ${known} of ${number} entries are papers of this index. ${problem}`.trim());
  showCited();
}

element("open").onclick = () => element("files").click();
element("files").onchange = () => take([...element("files").files]);
element("files").accept = ENDINGS.join(",");
onDrop(element("question"), take);
element("save").onclick = () => {
  const format = formatOf(element("format").value);
  const ending = { tex: "tex", markdown: "md", text: "txt", org: "org", rst: "rst", typst: "typ" }[format];
  save(file.name || `text.${ending}`, text.value, file.lineEnd);
};
element("copy-all").onclick = () => copy(cited.pane());
element("download").onclick = () => {
  const { name, lineEnd } = cited.bibliographyFile();
  save(name, cited.pane(), lineEnd);
};

// Keys, views, and the first look

document.addEventListener("keydown", (event) => {
  const isUndo = event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey;
  const isOurs = event.target === text || !event.target.matches("input, textarea");
  if (isUndo && isOurs && !element("write-view").hidden && undo()) event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  if (element("write-view").hidden || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  if (event.shiftKey) askEverywhere();
  else askAtCursor();
});
element("question").addEventListener("submit", (event) => {
  event.preventDefault();
  askAtCursor();
});
element("ask-all").onclick = askEverywhere;
element("ask-paper").onclick = askWhole;
element("ask-missing").onclick = askForMissing;
element("check").onclick = checkCitations;

function route() {
  const isMap = location.hash === "#map";
  element("write-view").hidden = isMap;
  element("map-view").hidden = !isMap;
  element(isMap ? "to-map" : "to-write").setAttribute("aria-current", "page");
  element(isMap ? "to-write" : "to-map").removeAttribute("aria-current");
  if (!isMap) return;
  openMap(shownIds(), cited.citedIds(), onMap);
  onMap = null;
}
window.addEventListener("hashchange", route);
recall(remembered());
route();
show("empty");

try {
  const index = await getJson("api/index");
  element("index").textContent = `${index.num_papers.toLocaleString("en")} papers`;
} catch (error) {
  show("error", error.message);
}
