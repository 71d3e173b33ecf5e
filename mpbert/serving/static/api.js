// Requests to our own server. Errors carry the server's one line.

const TOKEN = "mpbert token"; // in sessionStorage: forgotten with the tab
const element = (id) => document.getElementById(id);
let asking = null; // promise of the token dialog, shared by all requests that wait for it

export async function request(path, options = {}) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = { ...options.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  let answer;
  try {
    answer = await fetch(path, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer; is it still running?", { cause: error });
  }
  if (answer.status === 401) {
    // another request may have asked for the token meanwhile
    if (sessionStorage.getItem(TOKEN) === token) await askForToken(token !== null);
    return request(path, options);
  }
  if (!answer.ok) {
    const problem = await answer.json().catch(() => ({}));
    throw new Error(problem.error ?? `The server answered ${answer.status}.`);
  }
  return answer;
}

export async function getJson(path, options) {
  return (await request(path, options)).json();
}

export async function getText(path) {
  return (await request(path)).text();
}

export function postJson(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  return getJson(path, { method: "POST", headers, body: JSON.stringify(body), signal });
}

export async function postFile(path, file, type) {
  return (await request(path, { method: "POST", headers: { "Content-Type": type }, body: file })).json();
}

function askForToken(wasWrong) {
  asking ??= new Promise((resolve) => {
    const dialog = element("token-dialog");
    element("token-problem").hidden = !wasWrong;
    element("token").value = "";
    dialog.oncancel = (event) => event.preventDefault(); // without a token nothing works
    element("token-form").onsubmit = (event) => {
      event.preventDefault();
      sessionStorage.setItem(TOKEN, element("token").value.trim());
      dialog.close();
      asking = null;
      resolve();
    };
    dialog.showModal();
  });
  return asking;
}

// Copy a text; where the browser forbids it, show the text, selected.
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const dialog = element("copy-dialog");
    element("copy-text").value = text;
    element("copy-close").onclick = () => dialog.close();
    dialog.showModal();
    element("copy-text").select();
    return false;
  }
}
