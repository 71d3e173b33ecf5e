// Papers as elements of the page.

const MAX_AUTHORS = 3;
const AROUND = 60; // characters shown on either side of the place

function make(tag, className, ...children) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...children); // strings become text, never markup
  return made;
}

export function byLine(paper) {
  const { authors } = paper;
  const names = authors.slice(0, MAX_AUTHORS).join(", ");
  const all = authors.length > MAX_AUTHORS ? `${names} and others` : names;
  return [all, paper.year, paper.paper_id].filter(Boolean).join(" · ");
}

// The text around the place, cut at words, with a sign for the cursor.
export function placeParts(text, place) {
  const characters = Array.from(text);
  let before = characters.slice(Math.max(0, place - AROUND), place).join("");
  let after = characters.slice(place, place + AROUND).join("");
  if (place > AROUND) before = `…${before.replace(/^\S*\s/, "")}`;
  if (place + AROUND < characters.length) after = `${after.replace(/\s\S*$/, "")}…`;
  const sign = make("span", "cursor");
  sign.setAttribute("role", "img");
  sign.setAttribute("aria-label", "cursor");
  return [before, sign, after];
}

let made = 0; // elements have distinct ids

export function paperItem(paper) {
  const template = document.getElementById("paper-template");
  const item = template.content.firstElementChild.cloneNode(true);
  const heading = item.querySelector("h3");
  item.paper = paper;
  heading.id = `paper-${++made}`;
  heading.textContent = paper.title;
  item.setAttribute("aria-labelledby", heading.id);
  item.querySelector(".by").textContent = byLine(paper);
  item.querySelector(".score").textContent = paper.score.toPrecision(3);
  for (const button of item.querySelectorAll("button, a")) {
    button.setAttribute("aria-describedby", heading.id);
  }
  const { summary, reasons } = why(paper.why);
  item.querySelector("summary").textContent = summary;
  item.querySelector("details").append(...reasons);
  return item;
}

function why({ citing, companions }) {
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
    const together = [make("p", "", "Cited together with"), make("ul", "", ...items)];
    if (accepted.length) reasons.unshift(...together);
    else reasons.push(...together);
  }
  if (!reasons.length) reasons.push(make("p", "", "Its text is near; no known sentence cites it."));
  return { summary: parts.length ? `Why: ${parts.join(", ")}` : "Why", reasons };
}

function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
