// The page: fields, editor and results together.

import { Editor, costsByLine, toldByLine } from "./editor.js";
import { Explainer } from "./explainer.js";
import { Goals, exerciseOf, worded } from "./goals.js";
import { showError, showLine, showPage } from "./results.js";
import { fromFragment, toFragment } from "./share.js";

const DEBOUNCE_MS = 250;
const FIELDS = ["model", "global_size", "local_size", "size", "options"];
const here = name => document.getElementById(name);
const status = text => { here("status").textContent = text; };

const begin = performance.now();
let page = null; // the last explanation
let timer = 0;
let usable = 0; // milliseconds until the first answer

const explainer = new Explainer(heard);
const goals = new Goals();
const editor = new Editor(here("editor"), changed, moved);

function state() {
  return { source: editor.text, ...Object.fromEntries(FIELDS.map(name => [name, here(name).value])) };
}

function restore(given) {
  for (const name of FIELDS) here(name).value = given[name] || "";
  editor.text = given.source;
}

function changed() {
  clearTimeout(timer);
  timer = setTimeout(() => explainer.run({ ...state(), line: editor.line }), DEBOUNCE_MS);
}

function moved(line) {
  if (page && page.accesses.some(each => each.line === line)) explainer.pictures(line);
}

function heard(message) {
  if (message.kind === "status") status(message.text);
  if (message.kind === "ready") status(`Python is ready after ${message.seconds.toFixed(1)} s.`);
  if (message.kind === "running" && message.what === "run") document.body.classList.add("busy");
  if (message.kind === "broken") broken(message.text);
  if (message.kind === "pictures") showLine(message.line, page, message.pictures);
  if (message.kind === "result" || message.kind === "error") answered(message);
  if (message.kind === "graded") graded(message);
}

function broken(text) {
  document.body.dataset.broken = text;
  status(`The playground could not be loaded: ${text.trim().split("\n").at(-1)} Reload the page to try again.`);
}

function answered(message) {
  document.body.classList.remove("busy");
  usable ||= performance.now() - begin;
  if (message.kind === "error") {
    page = null;
    showError(message.error);
    editor.show(new Map(), new Map(), [{ ...message.error, severity: "error" }]);
  } else {
    page = message.page;
    showPage(page);
    const marks = page.findings.map(each => ({ ...each, severity: each.fault ? "error" : "info" }));
    editor.show(costsByLine(page), toldByLine(page), marks);
    if (page.accesses.some(each => each.line === message.line)) showLine(message.line, page, message.pictures);
    else showWorst();
  }
  const took = message.milliseconds === undefined ? "" : `Explained in ${(message.milliseconds / 1000).toFixed(2)} s.`;
  status(took);
  Object.assign(document.body.dataset, {
    answered: Number(document.body.dataset.answered || 0) + 1, milliseconds: message.milliseconds, usable,
  });
  const name = exerciseOf(editor.text);
  goals.begin(name);
  if (name && message.stuck) goals.show({ error: message.error.text });
  else if (name) explainer.grade(editor.text);
}

function graded(message) {
  goals.show(message);
  document.body.dataset.graded = document.body.dataset.answered; // which answer the grade belongs to
}

// Without a line under the cursor that moves data, the one with the most to save is shown.
function showWorst() {
  const worst = page.accesses.reduce((a, b) => !a || b.cost - b.least > a.cost - a.least ? b : a, null);
  here("line").hidden = !worst;
  if (worst) explainer.pictures(worst.line);
}

// Kernels to choose from, each {name, title, source, goal, size}. Exercises in exercises.json have hints, too.
function offer(title, list) {
  if (!list.length) return;
  const group = Object.assign(document.createElement("optgroup"), { label: title });
  for (const each of list) {
    const option = Object.assign(document.createElement("option"), { value: each.name, textContent: each.title });
    option.kernel = each;
    group.append(option);
  }
  here("example").append(group);
}

function choose() {
  const kernel = here("example").selectedOptions[0].kernel;
  here("goal").replaceChildren(...worded("p", kernel.goal).childNodes);
  here("goal").hidden = !kernel.goal;
  restore({ source: kernel.source, size: kernel.size, model: here("model").value });
  history.replaceState(null, "", location.pathname + location.search);
}

async function share() {
  history.replaceState(null, "", await toFragment(state()));
  try {
    await navigator.clipboard.writeText(location.href);
    status("The link is copied. It holds the kernel and the fields.");
  } catch {
    status("The link is in the address bar: this browser does not let the page copy it.");
  }
}

async function openLink() {
  try {
    const given = await fromFragment(location.hash);
    if (given) restore(given);
    return given !== null;
  } catch (error) {
    status(error.message);
    return false;
  }
}

async function start() {
  const [settings, exercises] = await Promise.all(
    ["playground.json", "exercises.json"].map(async name => (await fetch(name)).json()));
  const model = here("model");
  model.append(new Option("the usual one", ""));
  for (const each of settings.models) model.append(new Option(each.title, each.name));
  for (const [title, list] of Object.entries(settings.examples)) offer(title, list);
  offer("Exercises", exercises);
  goals.exercises = new Map(exercises.map(each => [each.name, each]));
  for (const name of FIELDS) here(name).addEventListener(name === "model" ? "change" : "input", changed);
  here("fields").addEventListener("submit", event => event.preventDefault());
  here("example").addEventListener("change", choose);
  here("share").addEventListener("click", share);
  addEventListener("hashchange", openLink);
  if (!await openLink()) choose();
}

start().catch(error => broken(error.message));
