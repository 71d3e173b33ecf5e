/** How the language server is started, from the settings of a writer. */

export interface Settings {
  command: string;
  index: string;
  [remark: string]: boolean | number | string;
}

/** Languages of manuscripts, and that of their bibliographies. */
export const LANGUAGES = [
  "latex",
  "tex",
  "markdown",
  "quarto",
  "rmd",
  "restructuredtext",
  "org",
  "typst",
  "bibtex",
];

/** The command and its arguments; null where no index is named. */
export function serverCommand(settings: Settings): { command: string; args: string[] } | null {
  const index = settings.index.trim();
  if (index === "") {
    return null;
  }
  return { command: settings.command.trim() || "mpbert", args: ["lsp", index] };
}

/** What the server is told: all settings but how it is started. */
export function remarkSettings(settings: Settings): Record<string, boolean | number | string> {
  const { command: _command, index: _index, ...remarks } = settings;
  return remarks;
}
