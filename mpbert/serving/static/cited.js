// Accepted papers and their BibTeX, beside a bibliography that the writer may have brought.

import { getText } from "./api.js";

const element = (id) => document.getElementById(id);
const ENTRY_KEY = /^[ \t]*@[ \t]*\w+[ \t]*[{(]\s*([^\s,{}()]+)\s*,/gm;
const NO_BIBLIOGRAPHY = { name: "references.bib", text: "", lineEnd: "\n", keys: {} };

let papers = new Map(); // paper_id -> {paper, key, entry}, in the order of acceptance
let bibliography = NO_BIBLIOGRAPHY; // keys: of entries that are papers of the index

export function citedIds() {
  return [...papers.keys()];
}

// Key -> id of all papers that the writer's keys are known to name.
export function knownKeys() {
  const accepted = Array.from(papers, ([paperId, { key }]) => [key, paperId]);
  return { ...bibliography.keys, ...Object.fromEntries(accepted) };
}

// Add a paper; return its key. An entry of the writer's own bibliography stays as it is.
export async function add(paper) {
  const { paper_id: paperId } = paper;
  if (papers.has(paperId)) return papers.get(paperId).key;
  const own = Object.keys(bibliography.keys).find((key) => bibliography.keys[key] === paperId);
  const [key, entry] = own ? [own, ""] : await newEntry(paperId, paper.cited_as);
  papers.set(paperId, { paper: { paper_id: paperId, title: paper.title, year: paper.year }, key, entry });
  return key;
}

// Return key and entry of a paper; of one that the text names already by the key that it has there.
async function newEntry(paperId, citedAs) {
  const taken = new Set(keysIn(pane()).map((key) => key.toLowerCase()));
  if (citedAs && taken.has(citedAs.toLowerCase())) return [citedAs, ""];
  const entry = await bibtexOf(paperId);
  const base = entry.match(/^@\w+\{([^,]+),/)[1];
  let key = citedAs ?? base;
  for (let number = 2; taken.has(key.toLowerCase()); number++) key = `${base}-${number}`;
  return [key, entry.replace(`{${base},`, () => `{${key},`)];
}

export async function bibtexOf(paperId) {
  return getText(`api/bibtex?${new URLSearchParams({ paper_id: paperId })}`);
}

function keysIn(text) {
  return Array.from(text.matchAll(ENTRY_KEY), (match) => match[1]);
}

export function remove(paperId) {
  papers.delete(paperId);
}

// All entries: those that the writer brought, and behind them those of accepted papers.
export function pane() {
  const own = bibliography.text.trimEnd();
  const entries = Array.from(papers.values(), ({ entry }) => entry.trimEnd());
  const all = [own, ...entries].filter(Boolean).join("\n\n");
  return all && `${all}\n`;
}

export function setBibliography(found) {
  bibliography = found;
}

export function bibliographyFile() {
  return bibliography;
}

export function show(drop) {
  const items = Array.from(papers.values(), ({ paper, key }) => {
    const item = document.createElement("li");
    const title = document.createElement("span");
    const name = document.createElement("code");
    const year = paper.year ? ` (${paper.year})` : "";
    name.textContent = key;
    title.append(`${paper.title}${year} `, name);
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
  const all = pane();
  element("pane").hidden = !all;
  element("bibtex").value = all;
}

export function state() {
  return { papers: [...papers], bibliography };
}

export function restore(found) {
  papers = new Map(found?.papers ?? []);
  bibliography = found?.bibliography ?? NO_BIBLIOGRAPHY;
}
