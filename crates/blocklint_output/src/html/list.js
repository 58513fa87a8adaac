// The causes, of which only those in sight are elements: a list of thousands stays quick.

const ROW = 80;
const SPARE = 6;

class CauseList {
  constructor(model, choose) {
    Object.assign(this, { model, choose, rows: [], at: -1, isRead: true });
    this.space = h('div', { class: 'rows' });
    this.element = h('div', {
      class: 'list', role: 'listbox', tabindex: '0', 'aria-label': 'causes', id: 'causes',
      on: { scroll: () => this.draw(), keydown: (event) => this.key(event) },
    }, this.space);
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  show(rows, group) {
    this.rows = rows;
    this.most = Math.max(1, ...rows.map((row) => row.group.reach));
    this.at = rows.findIndex((row) => row.group === group);
    this.space.style.height = `${rows.length * ROW}px`;
    this.from = this.to = -1;
    if (this.at >= 0) this.reveal();
    this.draw();
  }

  reveal() {
    const top = this.at * ROW;
    const { scrollTop, clientHeight } = this.element;
    if (!clientHeight) return;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + ROW > scrollTop + clientHeight) this.element.scrollTop = top + ROW - clientHeight;
  }

  draw() {
    const from = Math.max(0, Math.floor(this.element.scrollTop / ROW) - SPARE);
    const to = Math.min(this.rows.length, Math.ceil((this.element.scrollTop + (this.element.clientHeight || 800)) / ROW) + SPARE);
    if (from === this.from && to === this.to) return;
    Object.assign(this, { from, to });
    this.space.replaceChildren(...this.rows.slice(from, to).map((row, at) => this.row(row, from + at)));
    this.mark();
  }

  mark() {
    for (const row of this.space.children) row.setAttribute('aria-selected', String(this.isRead && Number(row.dataset.at) === this.at));
    const id = this.at >= 0 ? `row-${this.at}` : null;
    if (id) this.element.setAttribute('aria-activedescendant', id);
    else this.element.removeAttribute('aria-activedescendant');
  }

  row({ group, findings }, at) {
    const { report } = this.model;
    const hold = holdText(group.hold);
    const many = group.stalls || plural(findings.length, 'finding');
    const share = h('span', { class: 'share', 'aria-hidden': 'true' }, h('span', {}));
    share.firstChild.style.width = `${Math.max(2, (100 * group.reach) / this.most)}%`;
    const row = h('div', {
      class: `row ${group.severity}`, role: 'option', id: `row-${at}`, 'data-at': at, 'aria-setsize': this.rows.length, 'aria-posinset': at + 1,
      on: { click: () => this.select(at) },
    },
    h('div', { class: 'row-head' }, h('span', { class: 'dot', title: group.severity }), h('span', { class: group.cause ? 'call' : 'call words', title: plain(group.title) }, tail(group.title, 46)),
      hold && h('span', { class: `hold${group.hold === 'unbounded' ? ' unbounded' : ''}`, title: 'how long one call can block the thread' }, hold)),
    h('div', { class: 'row-place', title: plain(placeText(report, group.at)) }, h('bdi', {}, group.cause ? tail(placeText(report, group.at), 58) : plural(new Set(findings.map((number) => report.findings[number].path)).size, 'file'))),
    h('div', { class: 'row-foot' }, share, h('span', { class: 'many' }, many), h('span', { class: 'codes' }, group.rules.slice(0, 3).map((rule) => h('span', { class: 'code', title: (report.rules[rule] || {}).name }, rule)))));
    row.style.top = `${at * ROW}px`;
    return row;
  }

  select(at, quiet) {
    if (!this.rows.length) return;
    this.at = Math.max(0, Math.min(this.rows.length - 1, at));
    this.reveal();
    this.draw();
    this.mark();
    this.choose(this.rows[this.at], quiet);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW) - 1);
    const to = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, Home: 0, End: this.rows.length - 1, PageDown: this.at + page, PageUp: this.at - page }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      this.select(to, true);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      this.select(this.at < 0 ? 0 : this.at);
    }
  }
}
