// The page: header, filters, list and detail, keys, the address, print.

const started = performance.now();
const report = JSON.parse(document.getElementById('data').textContent);
const model = new Model(report);
const app = document.getElementById('app');

function remember(name, value) {
  try {
    if (value === undefined) return localStorage.getItem(`blocklint.${name}`);
    localStorage.setItem(`blocklint.${name}`, value);
  } catch {
    // Pages opened from a file may have no storage.
  }
  return null;
}

const dark = matchMedia('(prefers-color-scheme: dark)');
const themeButton = h('button', { type: 'button', class: 'quiet', id: 'theme', on: { click: () => setTheme(isDark() ? 'light' : 'dark') } });
const isDark = () => (document.documentElement.dataset.theme || (dark.matches ? 'dark' : 'light')) === 'dark';
function setTheme(theme) {
  if (theme) {
    document.documentElement.dataset.theme = theme;
    remember('theme', theme);
  }
  themeButton.replaceChildren(icon(isDark() ? 'sun' : 'moon'));
  themeButton.title = isDark() ? 'Light colours (t)' : 'Dark colours (t)';
  themeButton.setAttribute('aria-label', themeButton.title);
}
setTheme(['light', 'dark'].includes(remember('theme')) ? remember('theme') : null);
dark.addEventListener('change', () => setTheme(null));

const list = new CauseList(model, (row, quiet) => open(row, undefined, quiet));
const detail = new Detail(model, (group, finding) => replaceAddress(group, finding));
const plan = report.plan && report.plan.steps.length ? new PlanPage(report) : null;

/** Shows the plan in place of a cause, or the cause again. */
function showPlan(on) {
  if (!plan) return;
  plan.element.hidden = !on;
  detail.element.hidden = on;
  planButton.setAttribute('aria-pressed', String(on));
  list.isRead = !on;
  list.mark();
}

function openPlan() {
  showPlan(true);
  replaceAddress();
  document.body.classList.add('reading');
}

function replaceAddress(group, finding) {
  const address = model.address(group, finding, Boolean(plan) && !plan.element.hidden);
  if (address !== location.hash) history.replaceState(null, '', address === '#' ? location.pathname + location.search : address);
}

function open(row, finding, stay) {
  showPlan(false);
  detail.show(row, finding);
  replaceAddress(row && row.group, finding);
  if (!stay && row) document.body.classList.add('reading');
}

// Filters

const search = h('input', { type: 'search', id: 'search', placeholder: 'Search calls, functions, files', 'aria-label': 'search', autocomplete: 'off', spellcheck: 'false' });
let waiting;
search.addEventListener('input', () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => { model.query = search.value; refresh(); }, 80);
});
search.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown' || event.key === 'Enter') {
    event.preventDefault();
    list.element.focus();
    if (list.at < 0) list.select(0, true);
  }
});

const FACETS = [['severity', 'Severity', SEVERITIES], ['rule', 'Rule', Object.keys(report.rules).sort()], ['confidence', 'Confidence', CONFIDENCES], ['language', 'Language', ['python', 'rust', 'java']]];
const facets = FACETS.map(([name, label, values]) => {
  const present = values.filter((value) => report.findings.some((finding) => finding[name] === value));
  if (present.length < 2) return null;
  const panel = h('div', { class: 'panel', role: 'group', 'aria-label': label, hidden: true });
  const button = h('button', { type: 'button', class: 'facet', 'aria-expanded': 'false', 'data-facet': name });
  button.addEventListener('click', () => toggle(panel, button));
  const draw = () => {
    const chosen = model.filters[name];
    const counts = model.counts(name);
    button.replaceChildren(h('span', {}, label), chosen.size ? h('b', {}, chosen.size === 1 ? [...chosen][0] : String(chosen.size)) : '', icon('down', 12));
    button.classList.toggle('active', chosen.size > 0);
    panel.replaceChildren(...present.map((value) => {
      const box = h('input', { type: 'checkbox', value });
      box.checked = chosen.has(value);
      box.addEventListener('change', () => {
        if (box.checked) chosen.add(value);
        else chosen.delete(value);
        refresh();
        const again = [...panel.querySelectorAll('input')].find((other) => other.value === value);
        if (again) again.focus();
      });
      const rule = name === 'rule' && report.rules[value];
      return h('label', {}, box, name === 'severity' && h('span', { class: `dot ${value}` }), h('span', { class: 'value' }, rule ? [h('b', {}, value), ` ${rule.name}`] : value), h('span', { class: 'count' }, (counts.get(value) || 0).toLocaleString('en')));
    }));
  };
  return { element: h('div', { class: 'facet-box' }, button, panel), draw };
}).filter(Boolean);

const folder = h('select', { class: 'facet', 'aria-label': 'folder', id: 'folder', on: { change: () => { model.filters.folder = folder.value; refresh(); } } });
const sort = h('select', { class: 'facet', 'aria-label': 'order', id: 'sort', on: { change: () => { model.sort = sort.value; refresh(); } } },
  Object.entries(SORTS).map(([value, [label]]) => h('option', { value }, label)));
const clear = h('button', { type: 'button', class: 'clear', hidden: true, on: { click: () => { model.clear(); refresh(); search.focus(); } } }, icon('close', 12), 'Clear');
const found = h('span', { class: 'found', role: 'status' });

function toggle(panel, button) {
  const opens = panel.hidden;
  closePanels();
  panel.hidden = !opens;
  button.setAttribute('aria-expanded', String(opens));
  if (opens) {
    // Not beyond the edge of a small window.
    panel.classList.toggle('from-right', button.getBoundingClientRect().left + 270 > innerWidth);
    const first = panel.querySelector('input');
    if (first) first.focus();
  }
}

function closePanels() {
  for (const panel of document.querySelectorAll('.panel')) panel.hidden = true;
  for (const button of document.querySelectorAll('.facet[aria-expanded]')) button.setAttribute('aria-expanded', 'false');
}
document.addEventListener('click', (event) => { if (!event.target.closest('.facet-box')) closePanels(); });

function drawFilters() {
  for (const facet of facets) facet.draw();
  const folders = model.folders();
  folder.replaceChildren(h('option', { value: '' }, 'All folders'), ...folders.map(([path, count]) => h('option', { value: path }, `${plain(path)} (${count})`)));
  if (model.filters.folder && !folders.some(([path]) => path === model.filters.folder)) folder.append(h('option', { value: model.filters.folder }, plain(model.filters.folder)));
  folder.value = model.filters.folder;
  folder.hidden = folders.length < 2 && !model.filters.folder;
  folder.classList.toggle('active', Boolean(model.filters.folder));
  sort.value = model.sort;
  if (search.value !== model.query) search.value = model.query;
  clear.hidden = !model.isFiltered;
}

/** Shows what passes the filters; keeps what is read where it still passes. */
function refresh(wanted, finding) {
  const rows = model.view();
  if (wanted) showPlan(false);
  const group = wanted || (detail.row && detail.row.group);
  const kept = rows.find((row) => row.group === group) || rows[0];
  const shown = finding || (!wanted && detail.row && kept && kept.group === detail.row.group ? detail.finding : undefined);
  drawFilters();
  const findings = rows.reduce((sum, row) => sum + row.findings.length, 0);
  found.replaceChildren(model.isFiltered ? `${plural(rows.length, 'cause')} of ${report.groups.length}, ${plural(findings, 'finding')}` : `${plural(rows.filter((row) => row.group.cause).length, 'cause')}, ${plural(findings, 'finding')}`);
  empty.hidden = rows.length > 0;
  list.show(rows, kept && kept.group);
  detail.show(kept, shown && kept && kept.findings.includes(report.findings.indexOf(shown)) ? shown : undefined);
  replaceAddress(wanted ? kept && kept.group : undefined, finding);
}

// The page

const { summary } = report;
const number = (count, one, many) => h('span', { class: 'total' }, h('b', {}, count.toLocaleString('en')), ` ${count === 1 ? one : many}`);
const logo = svg('svg', { class: 'logo', viewBox: '0 0 24 24', width: 24, height: 24, 'aria-hidden': 'true' },
  svg('rect', { class: 'logo-ground', width: 24, height: 24, rx: 6 }), svg('path', { class: 'logo-line', d: 'M5 8h14M5 16h4' }), svg('path', { class: 'logo-block', d: 'M12 12.500h7v7h-7Z' }));

const first = summary.first === null ? null : report.groups[summary.first];
const hero = first && h('button', { type: 'button', class: 'hero', on: { click: () => { model.clear(); model.sort = 'impact'; refresh(first); document.body.classList.add('reading'); } } },
  h('span', { class: 'hero-label' }, 'Begin here'), h('span', {}, 'One edit at ', h('code', {}, tail(placeText(report, first.at).replace(/:\d+$/, '').split('/').pop(), 44)), ` clears `, h('b', {}, `${first.mends} of ${summary.findings}`), ' findings'));

const planButton = plan && h('button', { type: 'button', class: 'hero', id: 'to-plan', 'aria-pressed': 'false', title: 'The plan (l)', on: { click: openPlan } },
  h('span', { class: 'hero-label' }, 'Plan'), h('span', {}, PlanPage.title(report.plan)));

const help = h('dialog', { class: 'help', 'aria-label': 'keys' }, h('h2', {}, 'Keys'), h('dl', {}, [
  ['↓ ↑ or j k', 'next and previous cause'], ['n p', 'next and previous stalled function'], ['l', 'the plan: what to change first'], ['/', 'search'], ['Enter', 'read the chosen cause'], ['← → ↑ ↓', 'in the graph: to the next function'],
  ['Esc', 'back to the list'], ['t', 'light or dark'], ['?', 'this'],
].map(([key, does]) => h('div', {}, h('dt', {}, key.split(' ').map((part) => (part === 'or' ? ' or ' : h('kbd', {}, part)))), h('dd', {}, does)))),
h('form', { method: 'dialog' }, h('button', { class: 'plain' }, 'Close')));

const empty = h('div', { class: 'no-rows', hidden: true }, h('p', {}, 'Nothing passes the filters.'), h('button', { type: 'button', class: 'plain', on: { click: () => { model.clear(); refresh(); } } }, 'Clear filters'));

app.append(h('a', { class: 'skip', href: '#detail', on: { click: (event) => { event.preventDefault(); (plan && !plan.element.hidden ? plan : detail).element.focus(); } } }, 'Skip to the chosen cause'));
app.append(h('header', { class: 'top' }, logo, h('h1', {}, h('span', { class: 'brand' }, 'blocklint'), h('bdi', {}, report.project)),
  h('div', { class: 'totals' }, number(summary.causes, 'cause', 'causes'), number(summary.functions, 'stalled function', 'stalled functions'), number(summary.findings, 'finding', 'findings')),
  h('button', { type: 'button', class: 'quiet', id: 'keys', title: 'Keys (?)', 'aria-label': 'Keys', on: { click: () => help.showModal() } }, icon('keyboard')), themeButton));

if (report.findings.length) {
  app.append(h('div', { class: 'body' },
    h('nav', { class: 'side', 'aria-label': 'causes' },
      h('div', { class: 'filters' }, h('div', { class: 'search' }, icon('search'), search, h('kbd', {}, '/')),
        h('div', { class: 'facets' }, facets.map((facet) => facet.element), folder, clear),
        h('div', { class: 'order' }, found, h('label', {}, 'by ', sort))),
      hero, planButton, empty, list.element),
    h('div', { class: 'reader' }, h('button', { type: 'button', class: 'back', on: { click: () => back() } }, icon('back', 14), 'All causes'), detail.element, plan && plan.element)));
} else {
  app.append(h('main', { class: 'clean' }, h('div', { class: 'clean-mark' }, icon('check', 40)), h('h2', {}, 'No findings'), h('p', {}, 'No call was found that blocks a thread which must not block.')));
}
const aside = [
  summary.below && `${plural(summary.below, 'more finding')} below ${summary.severity}/${summary.confidence}`,
  summary.aside && `${plural(summary.aside, 'finding')} left aside that only tests, examples or command lines reach`,
].filter(Boolean);
app.append(h('footer', {}, `blocklint ${report.blocklint}`, aside.length ? ` · ${aside.join(' · ')}` : ''));
app.append(help);

function back() {
  document.body.classList.remove('reading');
  list.element.focus();
}

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    const open = document.querySelector('.panel:not([hidden])');
    if (open) {
      closePanels();
      open.previousElementSibling.focus();
    } else if (document.activeElement === search && search.value) {
      model.query = '';
      refresh();
    } else if (!help.open) back();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || help.open || event.target.closest('input, select, textarea')) return;
  const act = {
    '/': () => search.focus(), '?': () => help.showModal(), t: () => setTheme(isDark() ? 'light' : 'dark'),
    j: () => list.select(list.at + 1, true), k: () => list.select(list.at - 1, true),
    l: () => plan && openPlan(),
    n: () => detail.findings && detail.choose(detail.at + 1), p: () => detail.findings && detail.choose(detail.at - 1),
  }[event.key];
  if (!act || (!report.findings.length && !'?t'.includes(event.key))) return;
  event.preventDefault();
  act();
});

function visit() {
  const { group, finding, isPlan } = model.visit(location.hash);
  showPlan(isPlan);
  refresh(group, finding);
  if (group || isPlan) document.body.classList.add('reading');
}
if (report.findings.length) {
  addEventListener('hashchange', visit);
  visit();
}
let width = innerWidth;
addEventListener('resize', () => {
  if (width === innerWidth) return;
  width = innerWidth;
  if (detail.graph) detail.graph.fit();
});

// On paper: every cause that passes the filters in short, and the chosen one as a whole.
const PRINTED = 500;
let printed = null;
addEventListener('beforeprint', () => {
  if (printed || !report.findings.length) return;
  const rows = model.view();
  const items = rows.slice(0, PRINTED).map(({ group, findings }) => {
    const one = report.findings[findings[0]];
    return h('li', {}, h('p', {}, h('b', {}, group.title), group.cause ? ` at ${placeText(report, group.at)}` : ''),
      h('p', { class: 'print-facts' }, [group.rules.join(', '), group.severity, group.stalls, holdText(group.hold)].filter(Boolean).join(' · ')),
      one.help && h('p', {}, inlineCode(one.help)),
      h('p', { class: 'print-facts' }, findings.slice(0, 8).map((at) => placeText(report, report.findings[at].at)).join(', '), findings.length > 8 ? ` and ${findings.length - 8} more` : ''));
  });
  printed = h('section', { class: 'printed' }, h('h2', {}, 'All causes'), h('ol', {}, items), rows.length > PRINTED && h('p', {}, `and ${rows.length - PRINTED} more`));
  app.append(printed);
});
addEventListener('afterprint', () => {
  if (printed) printed.remove();
  printed = null;
});

// Tests read how long it took.
document.documentElement.dataset.ready = String(Math.round(performance.now() - started));
