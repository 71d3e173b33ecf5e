// Files that come in and go out.

const ENCODINGS = ["utf-8", "windows-1252"]; // the second reads anything

const FORMATS = {
  tex: "tex",
  ltx: "tex",
  md: "markdown",
  markdown: "markdown",
  qmd: "markdown",
  rmd: "markdown",
  org: "org",
  rst: "rst",
  typ: "typst",
  txt: "text",
  bib: "bib",
};

// What the server makes a text of: ending of a name -> content-type.
const DOCUMENTS = {
  pdf: "application/pdf",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  odt: "application/vnd.oasis.opendocument.text",
  ipynb: "application/x-ipynb+json",
  lyx: "application/x-lyx",
  zip: "application/zip",
};

export const ENDINGS = [...Object.keys(FORMATS), ...Object.keys(DOCUMENTS)].map((ending) => `.${ending}`);

const endingOf = (name) => name.toLowerCase().split(".").pop();

export function formatOfName(name) {
  const ending = endingOf(name);
  return Object.hasOwn(FORMATS, ending) ? FORMATS[ending] : null;
}

export function documentType(name) {
  const ending = endingOf(name);
  return Object.hasOwn(DOCUMENTS, ending) ? DOCUMENTS[ending] : null;
}

// Return the text of a file and how its lines end; a textarea knows one end of lines alone.
export async function read(file) {
  const bytes = await file.arrayBuffer();
  for (const encoding of ENCODINGS) {
    try {
      const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
      const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
      return { name: file.name, text: text.replaceAll("\r\n", "\n"), lineEnd, encoding };
    } catch {
      // not in this encoding
    }
  }
  throw new Error(`${file.name}: is no text.`);
}

export function save(name, text, lineEnd = "\n") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text.replaceAll("\n", lineEnd)], { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Files may be dropped anywhere on an element.
export function onDrop(element, take) {
  element.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    element.classList.add("drop");
  });
  element.addEventListener("dragleave", () => element.classList.remove("drop"));
  element.addEventListener("drop", (event) => {
    element.classList.remove("drop");
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    take([...event.dataTransfer.files]);
  });
}
