// What a check of a finished manuscript found, as lists of the page.

import { make } from "./papers.js";

const text = document.getElementById("text");
const MOST = 50; // citations that are shown

function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

// Put the cursor on a line of the text.
function goTo(line) {
  const start = text.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  text.focus();
  text.setSelectionRange(start, start);
}

function lineButton(line) {
  if (!line) return "";
  const button = make("button", "line", `Line ${line}`);
  button.type = "button";
  button.onclick = () => goTo(line);
  return button;
}

function citationItem(one) {
  const isDoubtful = one.verdict === "doubtful";
  const place = `rank ${one.rank.toLocaleString("en")} of ${one.papers.toLocaleString("en")}`;
  const verdict = `${one.verdict}, ${Math.round(100 * one.probability)} % likely to belong here`;
  const item = make(
    "li",
    isDoubtful ? "check doubtful" : "check",
    make("p", "", lineButton(one.line), " ", make("code", "", one.key), ` ${verdict}`),
    make("blockquote", "", one.sentence),
    make("p", "by", `${one.title} · ${place}`),
  );
  if (one.better) {
    item.append(make("p", "", "Fits better: ", make("code", "", one.better.key), ` ${one.better.title}`));
  }
  return item;
}

function findingItem(one) {
  const line = one.file === "manuscript" ? lineButton(one.line) : "";
  const where = one.file === "bibliography" && one.line ? `BibTeX, line ${one.line}: ` : "";
  return make("li", "check", line, ` ${where}${one.message}`);
}

function list(heading, items) {
  const part = make("section", "place", make("h3", "", heading), make("ol", "checks", ...items));
  part.place = { cited: [], papers: [], site: null };
  return part;
}

// what was found, without doubtful citations among the findings -> sections, and one line that sums it up
export function checkSections({ citations, findings, unchecked, milliseconds }) {
  citations.sort((one, other) => one.probability - other.probability);
  const doubtful = citations.filter(({ verdict }) => verdict === "doubtful").length;
  const sections = [];
  if (findings.length) sections.push(list("Keys and entries", findings.map(findingItem)));
  if (citations.length) {
    const heading = citations.length > MOST ? `The ${MOST} most doubtful citations` : "Citations";
    sections.push(list(heading, citations.slice(0, MOST).map(citationItem)));
  }
  const left = unchecked.length ? `; ${count(unchecked.length, "key")} of papers that are not here` : "";
  const said = `${count(citations.length, "citation")}, ${doubtful} doubtful; ${count(findings.length, "finding")}`;
  return [sections, `${said}${left}, in ${Math.ceil(milliseconds)} ms`];
}
