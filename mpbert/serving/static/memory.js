// What this browser remembers between two visits: text, fields, accepted papers, bibliography.

const NAME = `mpbert page ${location.pathname}`; // servers may share an origin

export function remember(state) {
  try {
    localStorage.setItem(NAME, JSON.stringify(state));
    return true;
  } catch {
    return false; // forbidden, or full
  }
}

export function remembered() {
  try {
    const found = JSON.parse(localStorage.getItem(NAME));
    return found !== null && typeof found === "object" ? found : {};
  } catch {
    return {};
  }
}

export function forget() {
  try {
    localStorage.removeItem(NAME);
  } catch {
    // it is forbidden, so nothing was kept
  }
}
