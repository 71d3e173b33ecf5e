// Files that come in and go out.

const ENCODINGS = ["utf-8", "windows-1252"]; // the second reads anything

const FORMATS = { tex: "tex", md: "markdown", markdown: "markdown", txt: "text", bib: "bib", pdf: "pdf" };

export function formatOfName(name) {
  const ending = name.toLowerCase().split(".").pop();
  return Object.hasOwn(FORMATS, ending) ? FORMATS[ending] : null;
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
