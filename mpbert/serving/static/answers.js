// Asking for places, and the lists that come back.

import { postJson } from "./api.js";
import { checkSections } from "./checks.js";
import { addSite, clearSites, scrollToSite, toCharacters } from "./editor.js";
import { placeItem, placeParts, showMore, showScore } from "./papers.js";

const element = (id) => document.getElementById(id);
const text = element("text");
const places = element("places");
const AT_ONCE = 4; // places of one request, so that the first come soon
const CHECKED_AT_ONCE = 25; // places of one request
const MOST_QUOTED = 100; // characters of an abstract
const NARROW = matchMedia("(width < 60rem)");
const WAITING = "body, #text, #question button, h2"; // where the focus is after asking
const running = new Set(); // AbortControllers of the requests under way
let clock = 0; // interval that counts seconds

export function say(message) {
  element("status").textContent = message;
}

export function complain(message) {
  element("problem").hidden = false; // the lists stay
  element("problem").textContent = message;
}

export function show(state, message = "") {
  element("answer").dataset.state = state;
  element("answer").setAttribute("aria-busy", String(state === "loading"));
  element("empty").hidden = state !== "empty";
  element("problem").hidden = state !== "error";
  element("problem").textContent = state === "error" ? message : "";
  places.hidden = state === "error" || state === "empty";
  say(state === "error" ? "" : message);
  showProgress(state === "loading");
}

function showProgress(isRunning) {
  clearInterval(clock);
  element("progress").hidden = !isRunning;
  element("seconds").textContent = "";
  if (!isRunning) return;
  const start = performance.now();
  element("progress").querySelector("progress").removeAttribute("value");
  clock = setInterval(() => {
    element("seconds").textContent = `${Math.round((performance.now() - start) / 1000)} s`;
  }, 1000);
}

function advance(done, all) {
  const bar = element("progress").querySelector("progress");
  bar.max = all;
  bar.value = done;
  say(`Searching… ${done} of ${all} places`);
}

// Send a question. One about all lists takes the place of those under way.
async function send(question, isOfOneList, path = "api/manuscript") {
  if (!isOfOneList) for (const other of running) other.abort();
  const controller = new AbortController();
  running.add(controller);
  try {
    return await postJson(path, question, controller.signal);
  } finally {
    running.delete(controller);
  }
}

// Ask at a place of the text, in units; put the list in the place of another, or of all.
export async function askAt(question, units, { before = "", instead = null } = {}) {
  const cursor = toCharacters(units);
  show("loading", `${before}Searching…`);
  try {
    const answer = await send({ ...question, cursor }, instead !== null);
    const item = itemOf(answer.places[0], question.text, answer.num_places, instead);
    if (instead) instead.replaceWith(item);
    else {
      clearSites();
      item.place.site = addSite(answer.places[0].site, question.text);
      places.replaceChildren(item);
    }
    show("answered", before + found([item], answer.milliseconds));
    focusOn(item, question.text);
  } catch (error) {
    if (error.name !== "AbortError") show("error", error.message);
  }
}

// Ask for all marked places, some at a time.
export async function askAll(question) {
  show("loading", "Searching…");
  clearSites();
  const items = [];
  let milliseconds = 0;
  try {
    for (let all = 1; items.length < all; ) {
      const answer = await send({ ...question, first: items.length, number: AT_ONCE }, false);
      all = answer.num_places;
      milliseconds += answer.milliseconds;
      const more = answer.places.map((place) => itemOf(place, question.text, all));
      if (items.length) more.forEach((item) => (item.open = false));
      places.replaceChildren(...items, ...more);
      places.hidden = false;
      items.push(...more);
      advance(items.length, all);
      if (!more.length) break; // the index was changed meanwhile
    }
    for (const item of items.slice(1)) item.open = false;
    show("answered", found(items, milliseconds));
    focusOn(items[0], question.text);
  } catch (error) {
    if (error.name !== "AbortError") show("error", error.message);
  }
}

// Ask for a whole paper by its title and abstract; its list belongs to no place of the text.
export async function askPaper(question) {
  show("loading", "Searching…");
  clearSites();
  try {
    const answer = await send(question, false, "api/paper");
    const quote = [question.title || `${question.abstract.slice(0, MOST_QUOTED)}…`];
    const heading = "To read for the whole paper";
    const item = placeItem({ ...answer, heading, quote, cited: [], site: null, isWhole: true });
    places.replaceChildren(item);
    show("answered", found([item], answer.milliseconds));
    focusOn(item, text.value);
  } catch (error) {
    if (error.name !== "AbortError") show("error", error.message);
  }
}

// Ask which sentences lack a citation; each has its papers, and its end is a place.
export async function askMissing(question) {
  show("loading", "Searching…");
  clearSites();
  try {
    const { sentences, milliseconds } = await send(question, false, "api/unmarked");
    const items = sentences.map((one) => {
      const site = addSite(one.site, question.text);
      const where = one.line ? `Line ${one.line}: ` : "";
      const heading = `${where}${Math.round(100 * one.probability)} % likely to need a citation`;
      return placeItem({ ...one, heading, site, quote: site ? quoteAt(site) : [one.sentence], cited: [] });
    });
    places.replaceChildren(...items);
    if (!items.length) return show("answered", "Every sentence cites, or is none of the text.");
    for (const item of items.slice(1)) item.open = false;
    show("answered", found(items, milliseconds));
    focusOn(items[0], question.text);
  } catch (error) {
    if (error.name !== "AbortError") show("error", error.message);
  }
}

// Check what the text cites, and its bibliography.
export async function check(question) {
  show("loading", "Checking…");
  clearSites();
  try {
    const found = { citations: [], milliseconds: 0 };
    for (let first = 0, all = 1; first < all; first += CHECKED_AT_ONCE) {
      const part = await send({ ...question, first, number: CHECKED_AT_ONCE }, false, "api/check");
      found.milliseconds += part.milliseconds;
      found.citations.push(...part.citations);
      const others = part.findings.filter(({ kind }) => kind !== "doubtful-citation");
      Object.assign(found, { findings: others, unchecked: part.unchecked });
      all = part.num_places;
      advance(Math.min(first + CHECKED_AT_ONCE, all), all);
    }
    const [sections, said] = checkSections(found);
    places.replaceChildren(...sections);
    show("answered", said);
  } catch (error) {
    if (error.name !== "AbortError") show("error", error.message);
  }
}

function itemOf(place, asked, all, instead = null) {
  const site = addSite(place.site, asked);
  const quote = site ? quoteAt(site) : [place.sentence];
  const heading = instead?.place.heading ?? (all > 1 ? `Place ${place.place} of ${all}` : "This place");
  return placeItem({ ...place, heading, site, quote });
}

// The text around a site; of one among keys, behind its citation.
function quoteAt({ start, end, behind }) {
  const closing = behind ? 0 : text.value.slice(end).match(/^[}\]]?/)[0].length;
  return placeParts(text.value, closing ? end + closing : start, end + closing);
}

function found(items, milliseconds) {
  const number = items.reduce((sum, item) => sum + item.place.papers.length, 0);
  if (!number) return "No paper found; give more text, or a later year.";
  const papers = `${number} ${number === 1 ? "paper" : "papers"}`;
  const where = items.length > 1 ? ` for ${items.length} places` : "";
  return `${papers}${where} in ${Math.ceil(milliseconds)} ms`;
}

// The list takes the focus, unless the writer went on writing.
function focusOn(item, asked) {
  const first = item.querySelector(".paper");
  if (!first) return;
  const isWaiting = text.value === asked && document.activeElement.matches(WAITING);
  if (isWaiting) moveTo(first);
  else first.tabIndex = 0;
  // below the text the focus alone would bring one paper to the lower edge
  if (isWaiting && NARROW.matches) item.scrollIntoView();
}

export function shownIds() {
  return Array.from(places.querySelectorAll(".paper"), (item) => item.paper.paper_id);
}

export function placesShown() {
  return [...places.children];
}

function moveTo(item) {
  if (!item) return;
  for (const other of item.parentElement.children) other.tabIndex = other === item ? 0 : -1;
  item.focus();
}

// Take a paper out of its list, and go on with the next one.
export function takeOut(item) {
  const next = item.nextElementSibling ?? item.previousElementSibling;
  item.remove();
  moveTo(next);
}

function moveToPlace(item, step) {
  const other = step > 0 ? item.nextElementSibling : item.previousElementSibling;
  if (!other) return;
  other.open = true;
  moveTo(other.querySelector(".paper") ?? other.querySelector("summary"));
}

const more = (item) => showMore(item, !item.classList.contains("full"));

// Keys in a list: what they do with the paper in focus.
const KEYS = {
  ArrowDown: (item) => moveTo(item.nextElementSibling),
  ArrowUp: (item) => moveTo(item.previousElementSibling),
  Home: (item) => moveTo(item.parentElement.firstElementChild),
  End: (item) => moveTo(item.parentElement.lastElementChild),
  n: (item) => moveToPlace(item.closest(".place"), 1),
  p: (item) => moveToPlace(item.closest(".place"), -1),
  w: more,
  Escape: () => text.focus(),
};
KEYS.j = KEYS.ArrowDown;
KEYS.k = KEYS.ArrowUp;

// actions: what is to be done with a paper: {accept, copy, map}
export function listen(actions) {
  const keys = { ...KEYS, Enter: actions.accept, c: actions.copy };
  places.addEventListener("keydown", (event) => {
    const item = event.target.closest(".paper");
    const isOwn = event.target === item || event.key !== "Enter"; // Enter presses a focused button
    if (!item || !isOwn || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key](item);
  });
  places.addEventListener("focusin", (event) => scrollToSite(event.target.closest(".place")?.place.site));
  places.addEventListener("click", (event) => {
    const item = event.target.closest(".paper");
    if (!item) return;
    if (event.target.matches(".accept")) actions.accept(item);
    else if (event.target.matches(".copy")) actions.copy(item);
    else if (event.target.matches(".show")) actions.map(item);
    else if (event.target.matches(".more")) more(item);
    else if (event.target.closest(".score")) {
      showScore(item, event.target.closest(".score").getAttribute("aria-expanded") === "false");
    }
  });
}
