// Places and papers as elements of the page.

const MAX_AUTHORS = 3;
const AROUND = 60; // characters shown on either side of the place
// probability that a paper is cited here -> what a person reads
const WORDS = [
  [0.6, "very likely"],
  [0.3, "likely"],
  [0.1, "possible"],
  [0, "unlikely"],
];

export function make(tag, className, ...children) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...children); // strings become text, never markup
  return made;
}

function fromTemplate(name) {
  const template = document.getElementById(name);
  return template.content.firstElementChild.cloneNode(true);
}

export function byLine(paper) {
  const { authors } = paper;
  const names = authors.slice(0, MAX_AUTHORS).join(", ");
  const all = authors.length > MAX_AUTHORS ? `${names} and others` : names;
  return [all, paper.year, paper.venue, paper.paper_id].filter(Boolean).join(" · ");
}

// The text around the place, cut at words, with a sign for the cursor.
export function placeParts(text, start, end) {
  const [left, right] = [Array.from(text.slice(0, start)), Array.from(text.slice(end))];
  let before = left.slice(-AROUND).join("");
  let after = right.slice(0, AROUND).join("");
  if (left.length > AROUND) before = `…${before.replace(/^\S*\s/, "")}`;
  if (right.length > AROUND) after = `${after.replace(/\s\S*$/, "")}…`;
  const sign = make("span", "cursor");
  sign.setAttribute("role", "img");
  sign.setAttribute("aria-label", "place");
  return [before, sign, after];
}

let made = 0; // elements have distinct ids

// place: {heading, quote, cited, warning, holds, fits, papers}
export function placeItem(place) {
  const item = fromTemplate("place-template");
  const heading = item.querySelector("h3");
  heading.id = `place-${++made}`;
  heading.textContent = place.heading;
  item.querySelector(".sentence").textContent = place.sentence ?? "";
  item.querySelector("blockquote").replaceChildren(...place.quote);
  const here = item.querySelector(".here");
  here.hidden = !place.cited.length;
  here.textContent = `Cited here: ${place.cited.map(({ key }) => key).join(", ")}`;
  const held = `${Math.round(100 * place.holds)} %`;
  const doubt = place.fits === false && `Nothing in this library fits well (${held} likely).`;
  const warnings = [place.warning, doubt].filter(Boolean);
  item.querySelector(".warning").hidden = !warnings.length;
  item.querySelector(".warning").textContent = warnings.join(" ");
  const list = item.querySelector("ol");
  list.setAttribute("aria-labelledby", heading.id);
  list.append(...place.papers.map(paperItem));
  item.place = place;
  return item;
}

function paperItem(paper) {
  const item = fromTemplate("paper-template");
  const heading = item.querySelector("h4");
  item.paper = paper;
  heading.id = `paper-${++made}`;
  heading.textContent = paper.title;
  item.setAttribute("aria-labelledby", heading.id);
  item.querySelector(".by").textContent = byLine(paper);
  const known = item.querySelector(".known");
  known.hidden = !paper.cited;
  const where = paper.cited === "listed" ? "In your bibliography" : "Cited elsewhere in your text";
  known.textContent = `${where} as ${paper.cited_as}`;
  item.querySelector(".abstract").textContent = paper.abstract;
  item.querySelector(".abstract").hidden = !paper.abstract;
  const doi = item.querySelector(".doi");
  doi.hidden = !paper.url;
  if (paper.url) doi.href = paper.url;
  showScore(item, false);
  for (const button of item.querySelectorAll("button, a")) {
    button.setAttribute("aria-describedby", heading.id);
  }
  const { summary, reasons } = why(paper.why);
  item.querySelector(".summary").textContent = summary;
  item.querySelector(".why").append(...reasons);
  item.querySelector(".why").hidden = !summary;
  return item;
}

// Show the word for a probability, on demand with its numbers.
export function showScore(item, isExact) {
  const { score, probability } = item.paper;
  const button = item.querySelector(".score");
  const percent = `${Math.round(100 * probability)} %`;
  const word = probability === null ? "not rated" : WORDS.find(([least]) => probability >= least)[1];
  const numbers = probability === null ? "" : `${percent} likely to be cited here, `;
  button.querySelector(".word").textContent = isExact
    ? `${word}: ${numbers}score ${score.toPrecision(3)}`
    : word;
  button.querySelector(".bar").hidden = probability === null;
  button.querySelector(".bar > span").style.width = `${100 * probability}%`;
  button.setAttribute("aria-expanded", String(isExact));
}

// The whole abstract and all reasons, or the first lines.
export function showMore(item, isFull) {
  item.classList.toggle("full", isFull);
  const button = item.querySelector(".more");
  button.textContent = isFull ? "Less" : "More";
  button.setAttribute("aria-expanded", String(isFull));
}

// The passage of the paper itself, with the words marked that the place has too.
function passageItem({ text, where, page, words }) {
  const known = new Set(words);
  const parts = text.split(/([\p{L}\p{N}]+)/u);
  const shown = parts.map((part) => (known.has(part.toLowerCase()) ? make("mark", "", part) : part));
  const place = page === null ? where : `page ${page}`;
  return make(
    "blockquote",
    "passage",
    make("p", "", ...shown),
    make("footer", "", `This paper, ${place}`),
  );
}

function why({ evidence, citing, companions }) {
  const accepted = companions.filter((companion) => companion.is_accepted);
  const parts = [];
  if (accepted.length) parts.push(`cited together with ${accepted.length} accepted`);
  if (citing.length) parts.push(`${count(citing.length, "similar citing sentence")}`);
  const reasons = citing.map((one) =>
    make(
      "blockquote",
      "",
      make("p", "", one.text),
      make("footer", "", `${one.citing_title} · similarity ${one.similarity.toFixed(2)}`),
    ),
  );
  if (companions.length) {
    const items = companions.map((companion) => {
      const mark = companion.is_accepted ? ", accepted" : "";
      const times = count(companion.count, "sentence");
      return make("li", "", `${companion.title} (${times}${mark})`);
    });
    const together = make("div", "together", make("p", "", "Cited together with"));
    together.append(make("ul", "", ...items));
    if (accepted.length) reasons.unshift(together);
    else reasons.push(together);
  }
  if (evidence) {
    reasons.unshift(passageItem(evidence));
    parts.unshift(evidence.page === null ? "a passage" : `a passage on page ${evidence.page}`);
  }
  if (!reasons.length) return { summary: "", reasons };
  return { summary: `Why: ${parts.join(", ") || "cited together with others"}`, reasons };
}

function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
