// One cause: what it is, what mends it, whom it stalls, and the way there.

const ENTRIES_AT_ONCE = 100;

/** Findings in a box that is opened, each a link to where it is read; made when asked for, some at a time. */
function growingList(report, box, findings, name) {
  const list = h('div', { class: 'also-list' });
  let shown = 0;
  const grow = () => {
    const next = findings.slice(shown, shown + ENTRIES_AT_ONCE);
    shown += next.length;
    const items = next.map((number) => {
      const finding = report.findings[number];
      return h('a', { class: `entry ${finding.severity}`, href: `#finding-${finding.id}` }, h('span', { class: 'dot' }), name(finding), h('bdi', { class: 'entry-place' }, tail(placeText(report, finding.at), 44)));
    });
    const more = list.querySelector('.more');
    if (more) more.remove();
    list.append(...items);
    const left = findings.length - shown;
    if (left > 0) list.append(h('button', { type: 'button', class: 'more', on: { click: grow } }, `Show ${Math.min(left, ENTRIES_AT_ONCE)} more of ${left.toLocaleString('en')}`));
  };
  box.addEventListener('toggle', () => { if (box.open && !shown) grow(); });
  box.append(list);
}

class Detail {
  constructor(model, changed) {
    Object.assign(this, { model, report: model.report, changed });
    this.element = h('main', { class: 'detail', id: 'detail', tabindex: '-1' });
  }

  show(row, finding) {
    this.row = row;
    if (!row) {
      this.element.replaceChildren(h('div', { class: 'nothing' }, h('p', {}, 'Nothing passes the filters.')));
      return;
    }
    const { group, findings } = row;
    this.findings = findings;
    this.at = Math.max(0, finding ? findings.indexOf(this.report.findings.indexOf(finding)) : 0);
    this.limit = ENTRIES_AT_ONCE;
    this.graph = null;
    const parts = [this.heading(group)];
    if (group.graph.edges.length) {
      this.graph = new PathView(this.report, group, (index, step) => this.chooseIndex(index, step));
      parts.push(h('section', { 'aria-label': 'paths' }, h('h3', {}, 'How it is reached', h('span', { class: 'hint' }, group.graph.paths.length > 1 ? 'choose a function to follow its path' : '')), this.graph.element));
    }
    this.entries = h('div', { class: 'entries', role: 'listbox', tabindex: '0', 'aria-label': 'functions that are stalled', on: { keydown: (event) => this.key(event) } });
    this.way = h('div', { class: 'way' });
    const several = findings.length > 1;
    parts.push(h('section', { class: several ? 'split' : 'split single' }, several && h('div', { class: 'entry-side' }, h('h3', {}, group.cause ? 'Stalled functions' : 'Findings', this.count(findings, Boolean(group.cause))), this.entries), this.way), this.also(group));
    this.element.replaceChildren(h('div', { class: 'sheet' }, parts.filter(Boolean)));
    this.element.scrollTop = 0;
    if (several) this.drawEntries();
    this.drawWay();
    if (this.graph) this.graph.show(this.indexInGroup());
  }

  /** How many functions findings stand in where those are counted, and how many findings that is where it is more. */
  count(findings, countsFunctions) {
    const functions = functionsOf(this.report, findings);
    const isSame = !countsFunctions || functions === findings.length;
    const both = [functions && functions.toLocaleString('en'), plural(findings.length, 'finding')].filter(Boolean).join(' · ');
    return h('span', { class: 'count' }, isSame ? findings.length.toLocaleString('en') : both);
  }

  get finding() {
    return this.report.findings[this.findings[this.at]];
  }

  indexInGroup() {
    return this.row.group.findings.indexOf(this.findings[this.at]);
  }

  heading(group) {
    const stats = [];
    const stat = (value, label, tone) => stats.push(h('div', { class: `stat ${tone || ''}` }, h('dd', {}, value), h('dt', {}, label)));
    if (group.stalls) stat(group.reach.toLocaleString('en'), group.reach === 1 ? 'function stalled' : 'functions stalled');
    const hold = holdText(group.hold);
    if (hold) stat(group.hold === 'unbounded' ? 'No bound' : group.hold === 'brief' ? 'Brief' : `≤ ${hold}`, 'one call holds the thread', group.hold === 'unbounded' ? 'hot' : '');
    stat(group.severity, 'severity', `is-${group.severity}`);
    stat(group.confidence, 'confidence');
    const place = placeText(this.report, group.at);
    const link = h('button', { type: 'button', class: 'quiet', title: 'Copy a link to this cause', 'aria-label': 'Copy a link to this cause' }, icon('link', 14));
    link.addEventListener('click', () => {
      const address = new URL(location.href);
      address.hash = `cause-${group.id}`;
      if (navigator.clipboard) navigator.clipboard.writeText(address.href).catch(() => {});
      link.replaceChildren(icon('check', 14));
      setTimeout(() => link.replaceChildren(icon('link', 14)), 1200);
    });
    const rules = group.rules.map((rule) => h((this.report.rules[rule] || {}).url ? 'a' : 'span', { class: 'rule', title: (this.report.rules[rule] || {}).summary, href: (this.report.rules[rule] || {}).url, rel: 'noreferrer' }, h('b', {}, rule), ` ${(this.report.rules[rule] || {}).name || ''}`));
    const mends = group.cause && group.mends > 0 && (group.mends === 1 ? 'Mending it here clears 1 finding.' : `Mending it here clears ${plural(group.mends, 'finding')} at once.`);
    return h('header', { class: 'cause-head' },
      h('div', { class: 'eyebrow' }, group.cause ? `Cause ${group.rank + 1} of ${this.report.summary.causes}` : 'Findings', rules),
      h('h2', { class: group.cause ? '' : 'words' }, h('span', {}, group.title), link),
      group.cause && h('p', { class: 'where' }, h('bdi', { class: 'path' }, place), copyButton(place, 'Copy the place'), h('span', { class: 'in' }, 'in ', h('code', {}, shortName(group.cause.function || 'the module')))),
      h('dl', { class: 'stats' }, stats),
      mends && h('p', { class: 'mends' }, mends));
  }

  drawEntries() {
    const items = this.findings.slice(0, this.limit).map((number, at) => {
      const finding = this.report.findings[number];
      return h('div', { class: `entry ${finding.severity}`, role: 'option', id: `entry-${at}`, 'data-at': at, 'aria-selected': String(at === this.at), on: { click: () => this.choose(at) } },
        h('span', { class: 'dot', title: finding.severity }),
        this.entryName(finding),
        h('bdi', { class: 'entry-place', title: plain(placeText(this.report, finding.at)) }, tail(placeText(this.report, finding.at), 32)));
    });
    const left = this.findings.length - this.limit;
    if (left > 0) items.push(h('button', { type: 'button', class: 'more', on: { click: () => { this.limit += 500; this.drawEntries(); } } }, `Show ${Math.min(left, 500)} more of ${left.toLocaleString('en')}`));
    this.entries.replaceChildren(...items);
    this.entries.setAttribute('aria-activedescendant', `entry-${this.at}`);
  }

  entryName(finding) {
    const [name, owner] = nameParts(finding.function);
    const title = plain(finding.function || finding.message);
    return h('span', { class: 'entry-name', title }, finding.function ? [h('b', {}, name), owner && h('span', { class: 'owner' }, owner)] : head(finding.message, 60));
  }

  /** Findings that this cause stalls as well; each is read where its shortest path ends. */
  also(group) {
    if (!group.also.length) return null;
    const box = h('details', { class: 'also' }, h('summary', {}, `Also stalled, first by another cause`, this.count(group.also, true)));
    growingList(this.report, box, group.also, (finding) => [this.entryName(finding)]);
    return box;
  }

  key(event) {
    const to = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, Home: 0, End: this.findings.length - 1 }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.choose(to);
  }

  choose(at, step) {
    this.at = Math.max(0, Math.min(this.findings.length - 1, at));
    while (this.at >= this.limit) this.limit += 500;
    if (this.findings.length > 1) {
      this.drawEntries();
      const chosen = this.entries.children[this.at];
      const { scrollTop, clientHeight } = this.entries;
      if (chosen.offsetTop < scrollTop || chosen.offsetTop + chosen.offsetHeight > scrollTop + clientHeight) this.entries.scrollTop = chosen.offsetTop - clientHeight / 2;
    }
    this.drawWay(step);
    if (this.graph) this.graph.show(this.indexInGroup());
    this.changed(this.row.group, this.finding);
  }

  /** Chooses a finding by its index in the group, as the graph knows it, and one of its steps. */
  chooseIndex(index, step) {
    const at = this.findings.indexOf(this.row.group.findings[index]);
    if (at >= 0) this.choose(at, step);
  }

  drawWay(step) {
    const { finding, report } = this;
    const parts = [];
    const facts = [finding.severity, `confidence ${finding.confidence}`, finding.runtime || finding.context, finding.causes > 1 && `${finding.causes} causes`, finding.confirmed].filter(Boolean);
    parts.push(h('div', { class: 'finding-head' },
      h('h3', { class: 'message' }, inlineCode(finding.message)),
      h('p', { class: 'facts' }, h('b', {}, finding.rule), ` ${(report.rules[finding.rule] || {}).name || ''} · ${facts.join(' · ')}`)));
    const steps = finding.trace.length ? finding.trace : [{ at: finding.at, says: '' }];
    const greenlet = finding.context === 'greenlet' && steps.length > 1;
    const list = h('ol', { class: 'steps' });
    steps.forEach((one, at) => {
      const last = at === steps.length - 1;
      const tone = last ? 'end' : at === 0 ? 'start' : '';
      const place = placeText(report, one.at);
      const item = h('li', { class: `step ${tone}`, 'data-step': at },
        h('div', { class: 'step-head' }, h('bdi', { class: 'path', title: plain(one.function || '') }, place), copyButton(place, 'Copy the place'),
          finding.trace.length > 0 && ((at === 0 && !greenlet) || (greenlet && last)) && h('span', { class: 'tag' }, steps.length === 1 ? 'to be changed' : 'reported here'), last && steps.length > 1 && h('span', { class: 'tag hot' }, 'blocks')),
        sourceFrame(report, one.at, one.says, steps.length > 6 ? 1 : 2, tone));
      list.append(item);
    });
    parts.push(list, this.remedy(finding));
    this.way.replaceChildren(...parts.filter(Boolean));
    if (step !== undefined) {
      const shown = list.children[Math.min(step, list.children.length - 1)];
      shown.classList.add('flash');
      shown.scrollIntoView({ block: 'nearest', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
    }
  }

  remedy(finding) {
    if (!finding.help && !finding.notes.length && !finding.fix) return null;
    const box = h('section', { class: 'remedy', 'aria-label': 'what to do' }, h('h4', {}, icon('wrench', 15), 'What to do'));
    if (finding.help) box.append(h('p', {}, inlineCode(finding.help)));
    if (finding.fix) {
      const flag = { safe: 'blocklint check --fix', unsafe: 'blocklint check --fix --unsafe-fixes' }[finding.fix.applicability];
      box.append(h('div', { class: 'fix' }, h('p', { class: 'fix-title' }, inlineCode(finding.fix.title), h('span', { class: `tag ${finding.fix.applicability}` }, { safe: 'safe fix', unsafe: 'fix to review', display: 'suggestion' }[finding.fix.applicability])),
        finding.fix.changes.map((change) => h('div', {}, h('bdi', { class: 'path' }, this.report.files[change.file].path), changeBlock(this.report, change))),
        flag && h('p', { class: 'command' }, h('code', {}, flag), copyButton(flag, 'Copy the command'))));
    }
    for (const note of finding.notes) box.append(h('p', { class: 'note-line' }, h('b', {}, 'Why '), inlineCode(note)));
    return box;
  }
}
