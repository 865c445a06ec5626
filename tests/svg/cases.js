// The cases of svg_test.py: each runs in the SVG's own page, as a user would act on it.
const graph = document.querySelector("#graph");
const input = document.querySelector(".top input");
const groups = [...graph.querySelectorAll("g[data-v]")];

function expectEqual(actual, expected, what) {
  if (actual !== expected) throw new Error(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
}

function expectNear(actual, expected, what) {
  if (!(Math.abs(actual - expected) <= 1.5)) throw new Error(`${what}: expected about ${expected}, got ${actual}`);
}

function expectIncludes(text, part, what) {
  if (!text.includes(part)) throw new Error(`${what}: expected ${JSON.stringify(part)} in ${JSON.stringify(text)}`);
}

const isShown = (element) => element.getBoundingClientRect().width > 0;
const tip = () => document.querySelector(".tip");
const button = (text) => [...document.querySelectorAll(".top button")].find((each) => each.textContent === text);
const matched = () => document.querySelector(".matched").textContent;
const named = (name) => groups.find((each) => each.frame.name.startsWith(name));
const widthOf = (group) => Math.round(group.querySelector("rect").getBoundingClientRect().width);
const fullWidth = () => document.documentElement.getBoundingClientRect().width - 20;

// Hits what is really on top at the middle of the element.
function at(element, type) {
  const box = (element.querySelector("rect") ?? element).getBoundingClientRect();
  const place = { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, bubbles: true };
  const target = document.elementFromPoint(place.clientX, place.clientY);
  if (!target) throw new Error(`nothing is at ${place.clientX}, ${place.clientY}`);
  target.dispatchEvent(new PointerEvent(type, place));
}

function press(key, target = document.activeElement, more = {}) {
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
}

function type(text) {
  input.value = text;
  input.dispatchEvent(new Event("input", { bubbles: true }));
}

const cases = {
  opens() {
    expectEqual(groups.length, 22, "frames");
    expectNear(widthOf(groups[0]), fullWidth(), "width of the trigger");
    const head = document.querySelector(".top").textContent;
    for (const part of ["app::serve(app::Request const&), invocation 2 of thread 4711: 75,527 instructions", "stepping",
      "LLDB 19.1.7", "complete", "1 stack of 7 instructions or less, 2 in all (<0.1%)"]) {
      expectIncludes(head, part, "header");
    }
    const bottoms = groups.map((each) => each.querySelector("rect").getBoundingClientRect().bottom);
    expectEqual(Math.max(...bottoms), bottoms[0], "lowest frame");
  },

  hover() {
    at(named("deflate"), "pointermove");
    if (!isShown(tip())) throw new Error("no details are shown");
    for (const part of ["deflate", "9,000 instructions (11.9%)", "self 9,000 (11.9%)", "1 call", "libz.so.1.2.13"]) {
      expectIncludes(tip().textContent, part, "details");
    }
    at(named("std::vector"), "pointermove");
    for (const part of ["push_back(char&&)", "12 calls", "inlined, server, stl_vector.h:1287"]) {
      expectIncludes(tip().textContent, part, "details of an inlined frame");
    }
    graph.dispatchEvent(new PointerEvent("pointerleave"));
    expectEqual(isShown(tip()), false, "details after leaving");
  },

  zoom() {
    const target = named("app::respond");
    at(target, "click");
    expectNear(widthOf(target), fullWidth(), "zoomed frame");
    expectNear(widthOf(groups[0]), fullWidth(), "frame below");
    expectEqual(isShown(named("app::json::parse(")), false, "a sibling is shown");
    expectNear(widthOf(named("deflate")), fullWidth() * 9000 / 16000, "a frame above");
    expectIncludes(named("app::json::write").querySelector("text").textContent, "app::json::write", "label grown with its frame");
    at(named("deflate"), "pointermove");
    expectIncludes(tip().textContent, "56.3% of what is zoomed in on", "details");
    at(button("Reset zoom"), "click");
    expectEqual(isShown(named("app::json::parse(")), true, "a sibling is shown after reset");
    expectEqual(button("Reset zoom").hidden, true, "reset button hidden");
    at(target, "click");
    at(groups[0], "click");
    expectEqual(isShown(named("app::json::parse(")), true, "a sibling is shown after a click on the trigger");
  },

  search() {
    press("f", document.documentElement, { ctrlKey: true });
    expectEqual(document.activeElement, input, "focus after Ctrl-F");
    type("parse");
    expectEqual(matched(), "Matched: 47.2%", "nested matches count once");
    expectEqual(named("app::json::parse_object").classList.contains("match"), true, "match marked");
    expectEqual(named("deflate").classList.contains("match"), false, "other marked");
    expectEqual(getComputedStyle(named("app::json::parse_object").querySelector("rect")).fill, "rgb(154, 77, 255)", "colour");
    type("malloc|deflate");
    expectEqual(matched(), "Matched: 14.3%", "a regular expression");
    type("operator(");
    expectEqual(matched(), "Matched: 3.8%", "what is no regular expression is looked for as it is");
    type("nowhere");
    expectEqual(matched(), "Matched: 0.0%", "no match");
    press("Escape", input);
    expectEqual(matched() + input.value, "", "after Escape");
    at(button("Search"), "click");
    expectEqual(document.activeElement, input, "focus after the button");
  },

  match_case() {
    type("PARSE");
    expectEqual(matched(), "Matched: 47.2%", "either case");
    at(button("Aa"), "click");
    expectEqual(matched(), "Matched: 0.0%", "exact case");
    expectEqual(button("Aa").getAttribute("aria-pressed"), "true", "pressed");
    at(button("Aa"), "click");
    expectEqual(matched(), "Matched: 47.2%", "either case again");
  },

  keyboard() {
    expectEqual(graph.getAttribute("tabindex"), "0", "the graph can be reached by Tab");
    graph.focus();
    const here = () => graph.querySelector(".here").frame.name;
    press("ArrowUp");
    expectIncludes(here(), "app::json::parse(", "the widest frame above");
    press("ArrowRight");
    expectIncludes(here(), "std::map", "the next frame");
    press("ArrowRight");
    press("ArrowRight");
    expectIncludes(here(), "app::respond", "two frames on");
    expectIncludes(tip().textContent, "16,000 instructions (21.2%)", "details");
    press("Enter");
    expectNear(widthOf(named("app::respond")), fullWidth(), "zoomed frame");
    press("ArrowDown");
    expectIncludes(here(), "app::serve", "the frame below");
    press("Escape");
    expectEqual(isShown(named("app::json::parse(")), true, "a sibling is shown after Escape");
    press("ArrowUp");
    press("ArrowLeft");
    expectIncludes(here(), "app::json::parse(", "the first frame has none to its left");
  },

  async address() {
    at(named("app::respond"), "click");
    type("deflate");
    const values = new URLSearchParams(location.hash.slice(1));
    expectEqual(values.get("s"), "deflate", "search in the address");
    expectEqual(`${values.get("x")} ${values.get("y")}`, "58325 1", "zoom in the address");
    const isBack = new Promise((done) => addEventListener("popstate", done));
    history.back();
    await isBack;
    expectEqual(isShown(named("app::json::parse(")), true, "whole graph after going back");
  },

  kept_address() {
    expectNear(widthOf(named("app::respond")), fullWidth(), "zoomed frame");
    expectEqual(input.value, "deflate", "search field");
    expectEqual(matched(), "Matched: 11.9%", "share");
    expectEqual(button("Aa").getAttribute("aria-pressed"), "true", "case");
  },

  stale_address() {
    expectNear(widthOf(groups[0]), fullWidth(), "width of the trigger");
    expectEqual(groups.filter(isShown).length, 22, "frames shown");
    expectEqual(matched(), "Matched: 0.0%", "share");
  },

  narrow() {
    expectNear(widthOf(groups[0]), fullWidth(), "width of the trigger");
    labelsFit();
    document.documentElement.setAttribute("width", "2400");
    dispatchEvent(new Event("resize"));
    expectNear(widthOf(groups[0]), 2380, "width of the trigger after a resize");
    labelsFit();
    expectEqual(named("app::json::parse(").querySelector("text").textContent, named("app::json::parse(").frame.name, "label");
  },

  dark() {
    expectEqual(getComputedStyle(document.querySelector(".page")).fill, "rgb(21, 24, 28)", "background");
  },

  hard_names() {
    const expected = ["trigger", "two words", "semi;colon", "less<than & \"more\"> 'quoted'", "new line tab  ", "größe::数える(π)",
      "bad\ufffd utf\ufffd", "overlong\ufffd\ufffd surrogate\ufffd\ufffd\ufffd noncharacter\ufffd", "line separator", "count 42",
      "decimal 4.5", "12", "]]" + "> <![CDATA[ --> </svg>", "[unknown]", "[unknown]", "x".repeat(10000)];
    const actual = groups.map((each) => each.frame.name).filter((name) => name !== "leaf");
    expectEqual(JSON.stringify(actual), JSON.stringify(expected), "names");
    expectEqual(groups.length, 31, "frames");
    expectIncludes(document.querySelector(".bad").textContent, "incomplete: the program exited with <status> 3", "header");
    at(groups.at(-1), "pointermove");
    const details = tip().getBoundingClientRect(), page = document.documentElement.getBoundingClientRect();
    expectEqual(details.height < 400 && details.bottom <= page.bottom && details.right <= page.right, true, "details fit the page");
    labelsFit();
  },

  deep() {
    expectEqual(groups.length, 20000, "frames");
    const box = groups[0].querySelector("rect").getBoundingClientRect();
    expectEqual(box.bottom <= innerHeight && box.top > 0, true, "the trigger is in view");
    expectNear(document.querySelector(".top").getBoundingClientRect().top, 0, "the header is in view");
    graph.focus();
    for (let up = 0; up < 100; ++up) press("ArrowUp");
    const here = graph.querySelector(".here rect").getBoundingClientRect();
    expectEqual(here.top > 0 && here.bottom < innerHeight, true, "the current frame is in view");
  },

  wide() {
    if (groups.length > 20000) throw new Error(`${groups.length} frames are too many to open at once`);
    const thin = groups.find((each) => each.classList.contains("thin"));
    expectIncludes(thin.frame.details.join(), "instructions", "details of thin frames");
    const first = groups[1];
    at(first, "click");
    expectNear(widthOf(first), fullWidth(), "zoomed frame");
    at(thin, "click");
    expectNear(widthOf(first), fullWidth(), "thin frames do not zoom");
  },

  empty() {
    expectEqual(groups.length, 0, "frames");
    expectIncludes(document.querySelector(".top").textContent, "Nothing was recorded.", "header");
    type("x");
    expectEqual(matched(), "Matched: 0.0%", "share");
    graph.focus();
    press("ArrowUp");
    press("Enter");
    press("Escape", document.documentElement);
  },
};

function labelsFit() {
  for (const group of groups.filter(isShown)) {
    const text = group.querySelector("text");
    if (!text?.textContent) continue;
    const room = group.querySelector("rect").getBoundingClientRect().width;
    if (text.getComputedTextLength() > room) throw new Error(`"${text.textContent}" does not fit into ${room} px`);
  }
}

// Null, or what is wrong.
async function run(name) {
  const expectNoErrors = () => { if (window.pageErrors?.length) throw new Error("the page failed: " + pageErrors.join("; ")); };
  try {
    expectNoErrors();
    await cases[name]();
    expectNoErrors();
    return null;
  } catch (error) {
    return error.message;
  }
}
