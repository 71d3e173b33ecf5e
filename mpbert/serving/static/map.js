// The map of the papers: what the dots are, and how one hovers, searches and chooses.

import { copyText, getJson, getText } from "./api.js";
import { byLine } from "./papers.js";
import { Plot } from "./plot.js";

const element = (id) => document.getElementById(id);
const canvas = element("map");
const REACH = 14; // pixels from the pointer to a dot that counts as touched
const FIFTHS = 5; // colours, one per fifth of the papers by year

let papers = null; // {paper_ids, titles, years, x, y, num_papers, shade, rowOf, spans}
let plot = null;
let marked = { found: [], recommended: [], cited: [] }; // paper ids
let hovered = -1; // row

export async function openMap(recommended, cited, paperId) {
  marked = { ...marked, recommended, cited };
  if (plot === null) {
    try {
      papers = withShades(await getJson("api/map"));
    } catch (error) {
      say(error.message);
      return;
    }
    if (!papers.paper_ids.length) {
      say("This index has neither vectors nor words that papers share, and so no map.");
      return;
    }
    plot = new Plot(canvas, papers);
  }
  const shown = papers.paper_ids.length;
  const part = shown < papers.num_papers ? `${shown.toLocaleString("en")} of ` : "";
  say(`${part}${papers.num_papers.toLocaleString("en")} papers`);
  showLegend();
  showTopics();
  showRings();
  plot.fit();
  if (paperId !== null) choose(paperId);
}

function say(message) {
  element("map-status").textContent = message;
}

// Fifths of the papers by year, oldest first; those without a year have the last shade.
function withShades(found) {
  const years = found.years.filter((year) => year !== null).sort((a, b) => a - b);
  const cuts = [1, 2, 3, 4].map((part) => years[Math.floor((part * years.length) / FIFTHS)]);
  const starts = [...new Set([years[0], ...cuts])].filter((year) => year !== undefined);
  const spans = starts.map((start, place) => [start, (starts[place + 1] ?? years.at(-1) + 1) - 1]);
  const shade = found.years.map((year) =>
    year === null ? FIFTHS : spans.findIndex(([, end]) => year <= end),
  );
  const rowOf = new Map(found.paper_ids.map((id, row) => [id, row]));
  return { ...found, shade, rowOf, spans };
}

function showLegend() {
  const names = papers.spans.map(([start, end]) => (start === end ? `${start}` : `${start}–${end}`));
  const entries = names.map((name, place) => [`shade-${place}`, name]);
  if (papers.shade.includes(FIFTHS)) entries.push([`shade-${FIFTHS}`, "no year"]);
  if (marked.recommended.length) entries.push(["ring", "last answer"]);
  if (marked.cited.length) entries.push(["ring-cited", "accepted"]);
  const items = entries.map(([sign, name]) => {
    const item = document.createElement("li");
    const dot = document.createElement("span");
    dot.className = `dot ${sign}`;
    item.append(dot, name);
    return item;
  });
  element("legend").replaceChildren(...items);
}

// Topic words stand on the map; as buttons they lead there.
function showTopics() {
  plot.topics = papers.topics;
  const items = papers.topics.map((topic) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = topic.words.join(", ");
    button.onclick = () => {
      plot.centreAt(topic.x, topic.y, 2.5);
      hover(-1);
      say(`${topic.words.join(", ")}: ${topic.num_papers.toLocaleString("en")} papers around`);
    };
    const item = document.createElement("li");
    item.append(button);
    return item;
  });
  element("topics").replaceChildren(...items);
}

function showRings() {
  // of very many papers the map shows a part
  const rows = (ids) => ids.map((id) => papers.rowOf.get(id)).filter((row) => row !== undefined);
  plot.rings = [
    { rows: rows(marked.found), style: "--text", radius: 6 },
    { rows: rows(marked.recommended), style: "--accent", radius: 7 },
    { rows: rows(marked.cited), style: "--good", radius: 10 },
  ];
}

function describe(row) {
  return [papers.titles[row], papers.years[row], papers.paper_ids[row]].filter(Boolean).join(" · ");
}

function hover(row) {
  hovered = row;
  const tip = element("tip");
  tip.hidden = row < 0;
  canvas.classList.toggle("over", row >= 0);
  if (row < 0) return;
  tip.textContent = describe(row);
  const [x, y] = plot.toPixels(row);
  const left = Math.min(x + 12, canvas.clientWidth - tip.offsetWidth - 4);
  const isBelow = y + 14 + tip.offsetHeight < canvas.clientHeight;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${isBelow ? y + 14 : y - 14 - tip.offsetHeight}px`;
}

function choose(paperId) {
  const row = papers.rowOf.get(paperId);
  element("chosen").hidden = row === undefined;
  plot.labelled = row ?? -1;
  if (row === undefined) return say("This paper is not among those drawn.");
  element("chosen-title").textContent = papers.titles[row];
  element("chosen-by").textContent = byLine({ authors: [], year: papers.years[row], paper_id: paperId });
  element("chosen-copy").onclick = () => copy(paperId);
  hover(-1);
  plot.centre(row, 3);
}

async function copy(paperId) {
  try {
    const bibtex = await getText(`api/bibtex?${new URLSearchParams({ paper_id: paperId })}`);
    if (await copyText(bibtex)) say("BibTeX copied");
  } catch (error) {
    say(error.message);
  }
}

const KEYS = {
  ArrowLeft: () => plot.moveBy(60, 0),
  ArrowRight: () => plot.moveBy(-60, 0),
  ArrowUp: () => plot.moveBy(0, 60),
  ArrowDown: () => plot.moveBy(0, -60),
  "+": () => plot.zoomBy(1.5),
  "=": () => plot.zoomBy(1.5), // the same key without Shift
  "-": () => plot.zoomBy(1 / 1.5),
  0: () => plot.showAll(),
};

canvas.addEventListener("keydown", (event) => {
  if (!plot || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Enter" && hovered >= 0) choose(papers.paper_ids[hovered]);
  if (!Object.hasOwn(KEYS, event.key)) return;
  event.preventDefault();
  KEYS[event.key]();
  hover(plot.nearest(plot.middle, Infinity));
  say(describe(hovered));
});

let dragged = null; // {x, y, far}: last place of the pressed pointer, and how far it went

canvas.addEventListener("pointerdown", (event) => {
  dragged = { x: event.offsetX, y: event.offsetY, far: 0 };
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", (event) => {
  if (!plot) return;
  const { offsetX: x, offsetY: y } = event;
  if (!dragged) return hover(plot.nearest([x, y], REACH));
  dragged.far += Math.hypot(x - dragged.x, y - dragged.y);
  plot.moveBy(x - dragged.x, y - dragged.y);
  Object.assign(dragged, { x, y });
  hover(-1);
});
canvas.addEventListener("pointerup", (event) => {
  const isClick = dragged && dragged.far < 5;
  dragged = null;
  const row = plot && isClick ? plot.nearest([event.offsetX, event.offsetY], REACH) : -1;
  if (row >= 0) choose(papers.paper_ids[row]);
});
canvas.addEventListener("pointercancel", () => (dragged = null));
canvas.addEventListener("pointerleave", () => hover(-1));
canvas.addEventListener(
  "wheel",
  (event) => {
    if (!plot) return;
    event.preventDefault();
    plot.zoomBy(Math.exp(-event.deltaY / 400), [event.offsetX, event.offsetY]);
    hover(-1);
  },
  { passive: false },
);
new ResizeObserver(() => canvas.clientWidth && plot?.fit()).observe(canvas);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plot?.draw());

let waiting = 0; // timer: a search starts when typing rests

async function search() {
  const query = element("search").value.trim();
  let found = [];
  try {
    const path = `api/papers?${new URLSearchParams({ query, top: 8 })}`;
    if (query) found = (await getJson(path)).papers;
  } catch (error) {
    say(error.message);
    return;
  }
  if (element("search").value.trim() !== query) return; // a later search is under way
  const items = found.map((paper) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = paper.year ? `${paper.title} (${paper.year})` : paper.title;
    button.onclick = () => plot && choose(paper.paper_id);
    const item = document.createElement("li");
    item.append(button);
    return item;
  });
  element("found").replaceChildren(...items);
  if (query) say(`${found.length} found`);
  marked.found = found.map((paper) => paper.paper_id);
  if (!plot) return;
  showRings();
  plot.draw();
}

element("search").addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(search, 150);
});
element("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter") element("found").querySelector("button")?.click();
});
