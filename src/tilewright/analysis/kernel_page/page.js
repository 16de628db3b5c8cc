"use strict";
const DATA = JSON.parse(document.getElementById("data").textContent);
const number = new Intl.NumberFormat("en-US");
const rows = [...document.querySelectorAll("tr[data-line]")];
const sliders = [...document.querySelectorAll("input[type=range]")];
const panel = document.getElementById("panel");
let pinned = null;

// Green where an access costs no more than it must, yellow to red where it costs more; stronger, the more of all the cost it is.
function heat(cost, least, most) {
  if (!cost) return "";
  const excess = cost / Math.max(least, 1);
  const tone = excess <= 1.05 ? "--cool" : excess < 2 ? "--warm" : "--hot";
  return `rgba(var(${tone}), ${(0.08 + 0.62 * cost / most).toFixed(3)})`;
}

function variation() {
  return DATA.variations.find(each => sliders.every(slider =>
    each.settings[slider.name] === DATA.values[slider.name][slider.valueAsNumber])) || DATA.variations[0];
}

function fill() {
  const chosen = variation();
  const own = DATA.variations[0];
  for (const slider of sliders) slider.previousElementSibling.querySelector("output").textContent =
    DATA.values[slider.name][slider.valueAsNumber];
  for (const [column, memory] of DATA.memories.entries()) {
    const costs = Object.values(chosen.lines).map(line => (line[memory.key] || [0, 0, 0])[1]);
    const most = Math.max(1, ...costs);
    for (const row of rows) {
      const cell = row.querySelectorAll("td.cost")[column];
      const [requests, cost, least] = (chosen.lines[row.dataset.line] || {})[memory.key] || [0, 0, 0];
      cell.style.background = heat(cost, least, most);
      cell.textContent = cost ? number.format(cost) : "";
      cell.title = cost ? `${number.format(cost)} ${memory.unit} in ${number.format(requests)} requests, ` +
        `at least ${number.format(least)}` : "";
    }
    const sum = side => Object.values(side.lines).reduce((total, line) =>
      total.map((value, index) => value + (line[memory.key] || [0, 0, 0])[index]), [0, 0, 0]);
    const [requests, cost, least] = sum(chosen), before = sum(own)[1];
    const change = cost === before ? "" : cost < before ? ` (${(before / Math.max(cost, 1)).toPrecision(2)} times fewer)`
      : ` (${(cost / Math.max(before, 1)).toPrecision(2)} times more)`;
    const line = document.getElementById(`sum-${memory.key}`);
    line.innerHTML = `<td>${line.dataset.title}</td>` +
      [requests, cost, least].map(value => `<td>${number.format(value)}</td>`).join("") +
      `<td>${memory.unit}${change}</td>`;
  }
  const words = chosen.reason ? `not counted: ${chosen.reason}` :
    chosen.faults === own.faults ? "" : `${chosen.faults} faults`;
  document.getElementById("said").textContent = words;
}

function show(row) {
  const told = document.getElementById(`line-${row.dataset.line}`);
  if (!told) return;
  document.querySelectorAll("tr.chosen").forEach(each => each.classList.remove("chosen"));
  row.classList.add("chosen");
  panel.replaceChildren(told.content.cloneNode(true));
}

for (const row of rows.filter(each => each.classList.contains("told"))) {
  row.addEventListener("mouseenter", () => pinned || show(row));
  row.addEventListener("focus", () => show(row));
  row.addEventListener("click", () => { pinned = pinned === row ? null : row; show(row); });
}
for (const slider of sliders) slider.addEventListener("input", fill);
fill();
const first = rows.find(row => row.dataset.line === DATA.first);
if (first) show(first);
