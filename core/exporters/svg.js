(() => {
"use strict";
const svg = document.documentElement;
const rowHeight = 18, pad = 10, letter = 7.23;
const svgSpace = "http://www.w3.org/2000/svg", htmlSpace = "http://www.w3.org/1999/xhtml";
const graph = svg.querySelector("#graph");
// Out of the page until everything has its place: so it is laid out once.
graph.remove();
const frames = [...graph.children].map(readFrame);
const whole = frames.length ? frames[0].total : 0;
const rows = Number(graph.dataset.rows);
const state = { zoom: frames[0], here: null, term: "", matchCase: false };
let width = 0;

function readFrame(group) {
  const [begin, total, depth, bare, parameters] = group.getAttribute("data-v").split(" ").map(Number);
  const [title, rect, text] = group.children;
  const [name, ...details] = title.textContent.split("\n");
  // The browser's own tooltip would come on top of ours.
  title.remove();
  const frame = { group, rect, text, begin, total, depth,
                  name, details, bare: bare || 0, parameters: parameters || name.length,
                  isThin: group.classList.contains("thin") };
  group.frame = frame;
  return frame;
}

const end = (frame) => frame.begin + frame.total;
const holds = (outer, inner) => outer.begin <= inner.begin && end(inner) <= end(outer);
const percent = (part) => {
  const share = whole ? 100 * part / whole : 0;
  return part > 0 && share < 0.05 ? "<0.1%" : share.toFixed(1) + "%";
};

// Labels

const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const plain = /^[ -~]*$/;

function cutTo(text, columns) {
  if (plain.test(text)) return text.length <= columns ? text : text.slice(0, columns - 1) + "…";
  const letters = [...text];
  let taken = 0, at = 0;
  const sizes = letters.map((each) => wide.test(each) ? 2 : 1);
  if (sizes.reduce((sum, size) => sum + size, 0) <= columns) return text;
  while (taken + sizes[at] < columns) taken += sizes[at++];
  return letters.slice(0, at).join("") + "…";
}

function label(frame, columns) {
  if (columns < 3) return "";
  if (cutTo(frame.name, columns) === frame.name) return frame.name;
  const withoutParameters = frame.name.slice(0, frame.parameters);
  if (cutTo(withoutParameters, columns) === withoutParameters) return withoutParameters;
  return cutTo(frame.name.slice(frame.bare, frame.parameters), columns);
}

function showLabel(frame, x, pixels) {
  const text = label(frame, Math.floor((pixels - 6) / letter));
  if (!frame.text) {
    if (!text) return;
    frame.text = document.createElementNS(svgSpace, "text");
    frame.text.setAttribute("y", Number(frame.rect.getAttribute("y")) + 12.5);
    frame.group.append(frame.text);
  }
  if (frame.text.textContent !== text) frame.text.textContent = text;
  if (text) frame.text.setAttribute("x", (x + 3).toFixed(1));
}

// The graph

function place(frame) {
  const zoom = state.zoom;
  const isAbove = frame.depth < zoom.depth;
  const isShown = isAbove ? holds(frame, zoom) : holds(zoom, frame);
  const x = isAbove ? 0 : (frame.begin - zoom.begin) / zoom.total * width;
  const pixels = isAbove ? width : frame.total / zoom.total * width;
  mark(frame, "hidden", !isShown || pixels < 0.1);
  if (frame.hidden) return;
  mark(frame, "above", isAbove);
  frame.rect.setAttribute("x", x.toFixed(2));
  frame.rect.setAttribute("width", (pixels > 2 ? pixels - 0.7 : pixels).toFixed(2));
  showLabel(frame, x, pixels);
}

// With thousands of frames only what changes may be touched.
function mark(frame, name, on) {
  if (Boolean(frame[name]) === on) return;
  frame[name] = on;
  frame.group.classList.toggle(name, on);
}

function draw() {
  if (frames.length) frames.forEach(place);
  resetButton.hidden = state.zoom === frames[0];
}

function zoomTo(frame) {
  if (!frame || frame.isThin) return;
  state.zoom = frame;
  draw();
  saveState("pushState");
}

// Search

function matcher(term) {
  const flags = state.matchCase ? "" : "i";
  try {
    return new RegExp(term, flags);
  } catch {
    return new RegExp(term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), flags);
  }
}

function search() {
  const pattern = state.term ? matcher(state.term) : null;
  let matched = 0, covered = 0;
  for (const frame of frames) {
    const isMatch = pattern !== null && !frame.isThin && pattern.test(frame.name);
    mark(frame, "match", isMatch);
    // A frame below a match is in it already: frames come left to right, the outer first.
    if (isMatch && frame.begin >= covered) {
      matched += frame.total;
      covered = end(frame);
    }
  }
  matchedText.textContent = pattern ? "Matched: " + percent(matched) : "";
  caseButton.setAttribute("aria-pressed", String(state.matchCase));
  clearButton.hidden = !pattern;
}

function searchFor(term) {
  state.term = term;
  search();
  saveState("replaceState");
}

// The address: #x=BEGIN&y=DEPTH&s=TERM&case=1

function saveState(how) {
  const values = new URLSearchParams();
  if (frames.length && state.zoom !== frames[0]) {
    values.set("x", state.zoom.begin);
    values.set("y", state.zoom.depth);
  }
  if (state.term) values.set("s", state.term);
  if (state.matchCase) values.set("case", "1");
  try {
    history[how](null, "", "#" + values);
  } catch {
    // A sandboxed document may not change its address: the graph works without.
  }
}

function loadState() {
  const values = new URLSearchParams(location.hash.slice(1));
  const x = Number(values.get("x")), y = Number(values.get("y"));
  const isZoomed = values.has("x") && values.has("y");
  // An address kept from another graph may point to nothing.
  state.zoom = (isZoomed && frames.find((each) => !each.isThin && each.depth === y && each.begin === x)) || frames[0];
  state.term = values.get("s") || "";
  state.matchCase = values.get("case") === "1";
  input.value = state.term;
  search();
  draw();
  fit();
}

// Header and tooltip: HTML, for it wraps. Where scripts do not run, the plain texts of the image stay.

function html(name, className, text) {
  const element = document.createElementNS(htmlSpace, name);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}

function layer(...children) {
  const foreign = document.createElementNS(svgSpace, "foreignObject");
  foreign.append(...children);
  svg.append(foreign);
  return foreign;
}

function button(text, hint, action) {
  const element = html("button", "", text);
  element.type = "button";
  element.title = hint;
  element.addEventListener("click", action);
  return element;
}

const input = html("input");
const matchedText = html("span", "matched");
const caseButton = button("Aa", "Match upper and lower case", () => {
  state.matchCase = !state.matchCase;
  searchFor(state.term);
});
const clearButton = button("Clear", "Clear the search (Escape in its field)", clearSearch);
const resetButton = button("Reset zoom", "Show the whole graph (Escape)", () => zoomTo(frames[0]));
const searchButton = button("Search", "Search (Ctrl-F)", () => input.focus());
const top = html("div", "top");
const topLayer = layer(top);
const tip = html("div", "tip");
const tipLayer = layer(tip);

function buildHeader() {
  const static_ = svg.querySelector("#head");
  for (const text of static_.querySelectorAll("text")) {
    const full = text.querySelector("title");
    const className = text.classList.contains("title") ? "name" : text.classList.contains("warning") ? "bad" : "";
    top.append(html("div", className, (full || text).textContent));
  }
  static_.setAttribute("display", "none");
  input.type = "search";
  input.placeholder = "name or regular expression";
  input.setAttribute("aria-label", "Search frames");
  input.spellcheck = false;
  input.addEventListener("input", () => searchFor(input.value));
  matchedText.setAttribute("role", "status");
  const bar = html("div", "bar");
  bar.append(searchButton, input, caseButton, clearButton, matchedText, resetButton);
  top.append(bar);
  tipLayer.setAttribute("style", "overflow: visible; pointer-events: none");
  tip.setAttribute("role", "status");
}

function clearSearch() {
  input.value = "";
  searchFor("");
}

function showTip(frame, x, y) {
  tip.replaceChildren(html("div", "name", frame.name), ...frame.details.map((line) => html("div", "", line)));
  if (state.zoom !== frames[0] && frame.depth > state.zoom.depth) {
    tip.append(html("div", "", (100 * frame.total / state.zoom.total).toFixed(1) + "% of what is zoomed in on"));
  }
  const room = svg.getBoundingClientRect().width;
  tip.style.maxWidth = Math.min(640, room - 24) + "px";
  tipLayer.setAttribute("width", room);
  tipLayer.setAttribute("height", 1);
  tipLayer.setAttribute("display", "inline");
  const size = tip.getBoundingClientRect();
  const left = Math.max(2, Math.min(x + 12, room - size.width - 4));
  const isBelow = y + 18 + size.height < innerHeight;
  const down = isBelow ? y + 18 : Math.max(2, y - size.height - 10);
  tipLayer.setAttribute("x", left + scrollX);
  tipLayer.setAttribute("y", down + scrollY);
}

function hideTip() { tipLayer.setAttribute("display", "none"); }

// Keyboard: one frame is `here`; the arrows move it.

function setHere(frame) {
  if (state.here) state.here.group.classList.remove("here");
  state.here = frame;
  if (!frame) return hideTip();
  frame.group.classList.add("here");
  let box = frame.rect.getBoundingClientRect();
  const covered = top.getBoundingClientRect().height;
  if (box.top < covered || box.bottom > innerHeight) scrollBy(0, box.top - innerHeight / 2);
  box = frame.rect.getBoundingClientRect();
  showTip(frame, box.left, box.bottom - 14);
}

const step = {
  ArrowUp: (here) => frames.filter((each) => !each.hidden && each.depth === here.depth + 1 && holds(here, each))
    .reduce((best, each) => !best || each.total > best.total ? each : best, null),
  ArrowDown: (here) => frames.find((each) => !each.hidden && each.depth === here.depth - 1 && holds(each, here)),
  ArrowLeft: (here) => frames.findLast((each) => !each.hidden && each.depth === here.depth && each.begin < here.begin),
  ArrowRight: (here) => frames.find((each) => !each.hidden && each.depth === here.depth && each.begin > here.begin),
};

function onGraphKey(event) {
  const here = state.here && !state.here.hidden ? state.here : state.zoom;
  if (event.key in step) {
    setHere(step[event.key](here) || here);
  } else if (event.key === "Enter" || event.key === " ") {
    zoomTo(here);
    setHere(here);
  } else {
    return;
  }
  event.preventDefault();
}

function onKey(event) {
  const isFind = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "f";
  if ((isFind || event.key === "F3") && document.activeElement !== input) {
    event.preventDefault();
    input.focus();
    input.select();
  } else if (event.key === "Escape") {
    onEscape();
  }
}

function onEscape() {
  if (document.activeElement === input) {
    clearSearch();
    input.blur();
  } else if (state.zoom !== frames[0]) {
    zoomTo(frames[0]);
    if (state.here) setHere(state.here);
  } else if (state.term) {
    clearSearch();
  } else {
    setHere(null);
  }
}

// Size

function resize() {
  fit();
  draw();
}

function fit() {
  const full = svg.getBoundingClientRect().width;
  topLayer.setAttribute("width", full);
  topLayer.setAttribute("height", 1000);
  const head = Math.ceil(top.getBoundingClientRect().height);
  topLayer.setAttribute("height", head);
  graph.setAttribute("transform", `translate(${pad} ${head})`);
  // Never lower than the window: the tooltip may need the room below a small graph.
  svg.setAttribute("height", Math.max(head + rows * rowHeight + pad, innerHeight));
  width = Math.max(1, full - 2 * pad);
  hideTip();
}

function keepHeaderInView() { topLayer.setAttribute("y", Math.max(0, scrollY)); }

const frameOf = (event) => event.target.closest?.("g[data-v]")?.frame;

function listen() {
  graph.addEventListener("pointermove", (event) => {
    const frame = frameOf(event);
    if (frame) showTip(frame, event.clientX, event.clientY);
  });
  graph.addEventListener("pointerleave", hideTip);
  graph.addEventListener("click", (event) => {
    hideTip();
    setHere(null);
    zoomTo(frameOf(event));
  });
  graph.addEventListener("keydown", onGraphKey);
  graph.addEventListener("focus", () => { if (graph.matches(":focus-visible") && frames.length) setHere(state.here || state.zoom); });
  graph.addEventListener("blur", () => setHere(null));
  addEventListener("keydown", onKey);
  addEventListener("popstate", loadState);
  addEventListener("resize", resize);
  addEventListener("scroll", keepHeaderInView);
}

buildHeader();
svg.removeAttribute("viewBox");
svg.setAttribute("width", "100%");
graph.classList.add("live");
graph.setAttribute("tabindex", "0");
graph.setAttribute("role", "application");
graph.setAttribute("aria-label", "Flame graph: arrow keys move, Enter zooms, Escape zooms out");
listen();
fit();
loadState();
svg.insertBefore(graph, topLayer);
// The graph grows from the bottom; a tall one begins there.
scrollTo(0, svg.getBoundingClientRect().height);
keepHeaderInView();
})();
