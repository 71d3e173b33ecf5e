// The page: ask at the cursor, read, accept. Text of papers enters it as textContent alone.

import { copyBibtex, getJson, postJson } from "./api.js";
import { paperItem, placeParts } from "./papers.js";
import { openMap } from "./map.js";

const element = (id) => document.getElementById(id);
const text = element("text");
const list = element("papers");
const WAITING = "body, #text, #question [type=submit], h2"; // where the focus is after asking
const cited = new Map(); // paper_id -> paper, in the order of acceptance
let question = null; // what was asked last; its accepted papers grow
let onMap = null; // paper_id to show when the map opens
let running = null; // AbortController of the request under way

function say(message) {
  element("status").textContent = message;
}

function show(state, message = "") {
  element("answer").dataset.state = state;
  element("answer").setAttribute("aria-busy", String(state === "loading"));
  element("empty").hidden = state !== "empty";
  element("problem").hidden = state !== "error";
  element("problem").textContent = state === "error" ? message : "";
  list.hidden = state === "error" || state === "empty";
  say(state === "error" ? "" : message);
}

// The API counts characters, JavaScript counts units of UTF-16.
function cursor() {
  return Array.from(text.value.slice(0, text.selectionStart)).length;
}

function askAtCursor() {
  if (!element("question").reportValidity()) return;
  const asked = {
    text: text.value,
    place: cursor(),
    title: element("title").value,
    abstract: element("abstract").value,
    top: element("top").valueAsNumber,
    year: element("year").value ? element("year").valueAsNumber : null,
    ranker: element("ranker").value,
  };
  const isSamePlace = question?.text === asked.text && question.place === asked.place;
  question = { ...asked, accepted: isSamePlace ? question.accepted : [] };
  ask();
}

// before: what the status line says first.
async function ask(before = "") {
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  element("place").hidden = question.text === "";
  element("place").replaceChildren(...placeParts(question.text, question.place));
  show("loading", `${before}Searching…`);
  try {
    const answer = await postJson("api/recommend", question, signal);
    list.replaceChildren(...answer.papers.map(paperItem));
    const number = answer.papers.length;
    const found = number
      ? `${number} ${number === 1 ? "paper" : "papers"} in ${Math.ceil(answer.milliseconds)} ms`
      : "No paper found; give more text, or a later year.";
    show("answered", before + found);
    if (!number) return;
    // the list takes the focus, unless the writer went on writing
    const isWaiting = text.value === question.text && document.activeElement.matches(WAITING);
    if (isWaiting) moveTo(list.firstElementChild);
    else list.firstElementChild.tabIndex = 0;
  } catch (error) {
    if (error.name !== "AbortError") show("error", error.message);
  }
}

function accept(item) {
  const { paper } = item;
  if (question.accepted.includes(paper.paper_id)) return; // the next list is under way
  cited.set(paper.paper_id, paper);
  question.accepted = [...question.accepted, paper.paper_id];
  showCited();
  ask(`Accepted: ${paper.title}. `);
}

function drop(paperId) {
  cited.delete(paperId);
  showCited();
  element("cited-heading").focus();
  if (question.accepted.includes(paperId)) {
    question.accepted = question.accepted.filter((other) => other !== paperId);
    ask();
  }
}

function showCited() {
  const items = Array.from(cited.values(), (paper) => {
    const item = document.createElement("li");
    const title = document.createElement("span");
    title.textContent = paper.year ? `${paper.title} (${paper.year})` : paper.title;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Remove";
    button.setAttribute("aria-label", `Remove ${paper.title}`);
    button.onclick = () => drop(paper.paper_id);
    item.append(title, button);
    return item;
  });
  element("cited-papers").replaceChildren(...items);
  element("cited-empty").hidden = items.length > 0;
  element("copy-all").hidden = items.length === 0;
}

async function copy(paperIds) {
  try {
    if (await copyBibtex(paperIds)) say("BibTeX copied");
  } catch (error) {
    element("problem").hidden = false; // the list stays
    element("problem").textContent = error.message;
  }
}

function moveTo(item) {
  if (!item) return;
  for (const other of list.children) other.tabIndex = other === item ? 0 : -1;
  item.focus();
}

// Keys in the list: what they do with the paper in focus.
const KEYS = {
  ArrowDown: (item) => moveTo(item.nextElementSibling),
  ArrowUp: (item) => moveTo(item.previousElementSibling),
  Home: () => moveTo(list.firstElementChild),
  End: () => moveTo(list.lastElementChild),
  Enter: accept,
  c: (item) => copy([item.paper.paper_id]),
  w: (item) => (item.querySelector("details").open ^= true),
  Escape: () => text.focus(),
};
KEYS.j = KEYS.ArrowDown;
KEYS.k = KEYS.ArrowUp;

list.addEventListener("keydown", (event) => {
  const item = event.target.closest("li.paper");
  const isOwn = event.target === item || event.key !== "Enter"; // Enter presses a focused button
  if (!item || !isOwn || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!Object.hasOwn(KEYS, event.key)) return;
  event.preventDefault();
  KEYS[event.key](item);
});

list.addEventListener("click", (event) => {
  const item = event.target.closest("li.paper");
  if (event.target.matches(".accept")) accept(item);
  else if (event.target.matches(".copy")) copy([item.paper.paper_id]);
  else if (event.target.matches(".show")) onMap = item.paper.paper_id;
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  if (element("write-view").hidden || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  askAtCursor();
});

element("question").addEventListener("submit", (event) => {
  event.preventDefault();
  askAtCursor();
});
element("copy-all").onclick = () => copy([...cited.keys()]);

function route() {
  const isMap = location.hash === "#map";
  element("write-view").hidden = isMap;
  element("map-view").hidden = !isMap;
  element(isMap ? "to-map" : "to-write").setAttribute("aria-current", "page");
  element(isMap ? "to-write" : "to-map").removeAttribute("aria-current");
  if (!isMap) return;
  const recommended = Array.from(list.children, (item) => item.paper.paper_id);
  openMap(recommended, [...cited.keys()], onMap);
  onMap = null;
}
window.addEventListener("hashchange", route);
route();
show("empty");

try {
  const index = await getJson("api/index");
  element("index").textContent = `${index.num_papers.toLocaleString("en")} papers`;
} catch (error) {
  show("error", error.message);
}
