// The side of results: the verdict, the sums of each memory, the pictures of a line, the way of the data.

const number = new Intl.NumberFormat("en-US");
const here = name => document.getElementById(name);

function element(name, text = "", kind = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

// SVG text of tilewright's own drawings, in which all words are escaped.
function figure(svg) {
  const made = element("figure");
  made.innerHTML = svg;
  return made;
}

export function showPage(page) {
  const list = element("ul");
  for (const each of page.verdict) list.append(element("li", each.text, each.mark));
  here("verdict").className = `verdict ${page.grade}`;
  here("verdict").replaceChildren(element("strong", page.said), list);
  here("verdict").hidden = false;
  showSums(page);
  here("flow").replaceChildren(element("h2", "From global memory to registers"), figure(page.path));
  if (page.timeline) here("flow").append(element("h2", "Between the barriers"), figure(page.timeline));
  here("flow").hidden = false;
  here("notes").replaceChildren(element("p", page.heading), ...[...page.notes, ...page.sums].map(each => element("p", each)));
}

function showSums(page) {
  const head = element("tr");
  for (const each of ["memory", "requests", "cost", "least", ""]) head.append(element("th", each));
  const rows = page.memories.map(memory => {
    const sum = { requests: 0, cost: 0, least: 0 };
    for (const line of Object.values(page.lines))
      for (const name of Object.keys(sum)) sum[name] += (line[memory.key] || {})[name] || 0;
    const row = element("tr");
    row.dataset.memory = memory.key;
    row.append(element("td", memory.title), ...Object.values(sum).map(each => element("td", number.format(each))),
      element("td", memory.unit));
    return row;
  });
  const conflicts = page.totals.conflicts;
  if (conflicts) {
    const row = element("tr");
    row.dataset.memory = "conflicts";
    row.append(element("td", "bank conflicts"), element("td"), element("td", number.format(conflicts)), element("td", "0"),
      element("td", "lost"));
    rows.push(row);
  }
  here("sums").replaceChildren(head, ...rows);
  here("sums").hidden = !rows.length;
}

// The pictures of a line: the worst request of each of its accesses.
export function showLine(line, page, pictures) {
  const told = page.accesses.filter(each => each.line === line);
  const findings = page.findings.filter(each => each.line === line || each.other === line);
  const parts = findings.map(each => element("p", each.text, each.fault ? "fault" : "note"));
  parts.push(...told.map(each => element("p", each.text, each.costly ? "cost" : "")));
  here("line").replaceChildren(element("h2", `Line ${line}`), ...parts, ...pictures.map(figure));
  here("line").hidden = !parts.length;
}

export function showError(error) {
  const where = error.line ? `Line ${error.line}: ` : "";
  here("verdict").className = "verdict fault error";
  here("verdict").replaceChildren(element("strong", "This kernel cannot be explained yet"), element("p", where + error.text));
  here("verdict").hidden = false;
  for (const name of ["sums", "line", "flow"]) here(name).hidden = true;
  here("notes").replaceChildren();
}
