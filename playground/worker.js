// Runs tilewright's `explain` and `grade` in Pyodide, away from the page, so that typing never waits.

const PAUSE_MS = 40; // between two looks at what the page has sent, where the browser can suspend Python

let python = null;
let cancelled = 0;
const waiting = new MessageChannel();
let woken = () => {};
waiting.port1.onmessage = () => woken();

// Lets messages of the page come in; then says whether the run is to end.
async function checkpoint(id) {
  await new Promise(resolve => { woken = resolve; waiting.port2.postMessage(0); });
  return cancelled >= id;
}

async function load() {
  const begin = performance.now();
  const say = text => postMessage({ kind: "status", text });
  say("Loading Python, 17 MB at the first visit ...");
  const folder = new URL("pyodide/", location.href).href;
  const [settings, { loadPyodide }] = await Promise.all([
    fetch("playground.json").then(answer => answer.json()), import(`${folder}pyodide.mjs`)]);
  const archive = fetch(settings.archive).then(answer => answer.arrayBuffer());
  const pyodide = await loadPyodide({ indexURL: folder });
  say("Loading NumPy and tilewright ...");
  pyodide.unpackArchive(await archive, "zip", { extractDir: settings.site_packages });
  python = pyodide.pyimport("in_page");
  postMessage({ kind: "ready", seconds: (performance.now() - begin) / 1000 });
}

const loaded = load().catch(error => postMessage({ kind: "broken", text: String(error.message || error) }));

onmessage = async event => {
  const asked = event.data;
  if (asked.kind === "cancel") {
    cancelled = Math.max(cancelled, asked.id);
    return;
  }
  await loaded;
  if (python === null) return;
  if (asked.kind === "pictures") {
    postMessage({ kind: "pictures", id: asked.id, line: asked.line, pictures: JSON.parse(python.pictures_of(asked.line)) });
    return;
  }
  const begin = performance.now();
  try {
    const run = asked.kind === "grade" ? python.grade : python.run;
    const call = run.callPromising ? run.callPromising.bind(run) : run;
    const answer = JSON.parse(await call(JSON.stringify(asked), () => checkpoint(asked.id), PAUSE_MS / 1000));
    postMessage({ ...answer, id: asked.id, milliseconds: performance.now() - begin });
  } catch (error) {
    const text = `The playground itself failed, which is our fault, not the kernel's: ${String(error.message).trim().split("\n").at(-1)}`;
    if (asked.kind === "grade") postMessage({ kind: "graded", id: asked.id, error: text });
    else postMessage({ kind: "error", id: asked.id, error: { text, line: 0, column: 0 }, milliseconds: performance.now() - begin });
  }
};
