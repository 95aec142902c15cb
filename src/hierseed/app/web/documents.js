// A list of documents that one hand can work through: arrows move, one key decides.
// Keys act only while a card has the focus, so that typing elsewhere never labels anything.
import card from "/workbench/web/card.js";
import picker from "/workbench/web/picker.js";
import { focusAsked, helpers, shared, shown } from "/workbench/web/shared.js";

export default {
  mixins: [helpers],
  components: { card, picker },
  props: {
    cards: Array,
    page: Number,
    pages: Number,
    total: Number,
    query: { type: String, default: "" },
    words: { type: Array, default: () => [] },
    why: Object,
    explain: Boolean, // offer "why here"
    similar: Boolean, // offer "similar"
    bulk: Boolean, // offer to decide about the whole page
  },
  emits: ["act"],
  data: () => ({ at: 0, open: {}, waiting: {}, putting: null, how: "", toEnd: false, together: 0, shared }),
  template: `
    <div class="documents" @keydown="key">
      <div role="feed" aria-label="Documents to decide about">
        <card v-for="(one, i) in cards" :key="one.row" :ref="'card' + i" :card="one" :here="i === at" :open="!!open[one.row]" :waiting="!!waiting[one.row]"
          :query="query" :words="words" :why="why && why.row === one.row ? why : null" :explain="explain" :similar="similar"
          @here="at = i" @does="(act) => does(act, one)" @memo="(text) => $emit('act', { do: 'memo', row: one.row, text })"
          @forget="(memo) => $emit('act', { do: 'forget_memo', memo })"></card>
      </div>
      <div v-if="bulk && free.length > 1" class="row bulk">
        <template v-if="!together"><button class="small" @click="together = 1">Accept all {{ free.length }} on this page …</button><button class="small" @click="together = -1">Reject all {{ free.length }} …</button></template>
        <p v-else>{{ together === 1 ? "Accept" : "Reject" }} {{ free.length }} undecided documents of this page for <b>{{ target }}</b>? <button class="small on" @click="all">{{ together === 1 ? "Accept" : "Reject" }} them</button> <button class="small" @click="together = 0">Cancel</button></p>
      </div>
      <nav v-if="pages > 1" class="pager" aria-label="Pages">
        <button class="small" :disabled="page === 0" @click="turnTo(page - 1)">← Previous</button>
        <span class="soft">{{ number(page + 1) }} of {{ number(pages) }}</span>
        <button class="small" :disabled="page + 1 >= pages" @click="turnTo(page + 1)">Next →</button>
      </nav>
      <picker v-if="putting" :title="how === 'move' ? 'Which topic is it?' : 'Which topic is it too?'" @picked="picked" @left="left"></picker>
    </div>`,
  watch: {
    cards(now, before) {
      const same = now.length === before.length && now.every((one, i) => one.row === before[i].row);
      if (!same) {
        const inside = this.$el?.contains?.(document.activeElement) || this.turned;
        this.at = this.toEnd ? Math.max(now.length - 1, 0) : 0;
        this.toEnd = this.turned = false;
        this.waiting = {};
        if (inside) this.$nextTick(() => this.focus());
      } else {
        for (const one of now) {
          const old = before.find((other) => other.row === one.row);
          if (this.waiting[one.row] && JSON.stringify(old) !== JSON.stringify(one)) delete this.waiting[one.row];
        }
      }
    },
    "shared.wantFocus"() {
      this.$nextTick(() => this.focus());
    },
    // An answer without a change (a refusal, say) must not leave a card waiting for ever.
    "shared.answered"() {
      this.waiting = {};
    },
  },
  computed: {
    // Documents of the page that nobody has decided about, for the selected topic.
    free() {
      return this.cards.filter((card) => card.reject && !card.seed_of.length && !card.not_in.length && !card.whole);
    },
    target() {
      return shown(this.free[0]?.reject.path);
    },
  },
  mounted() {
    if (this.cards.length && focusAsked()) this.focus();
  },
  methods: {
    focus() {
      shared.focusFrom = null;
      const found = this.$refs["card" + this.at];
      (Array.isArray(found) ? found[0] : found)?.$el.focus();
    },
    move(step) {
      const next = this.at + step;
      if (next >= this.cards.length && this.page + 1 < this.pages) return this.turnTo(this.page + 1);
      if (next < 0 && this.page > 0) {
        this.toEnd = true;
        return this.turnTo(this.page - 1);
      }
      this.at = Math.min(Math.max(next, 0), this.cards.length - 1);
      this.$nextTick(() => this.focus());
    },
    all() {
      this.$emit("act", { do: "bulk", rows: this.free.map((card) => card.row), verdict: this.together, key: this.free[0].reject.key });
      this.together = 0;
    },
    turnTo(page) {
      this.turned = true;
      this.$emit("act", { do: "page", page });
    },
    // The mark appears when the server has it on disk; only the cursor moves on at once.
    say(card, verdict) {
      const target = verdict === -1 ? card.reject : card.accept;
      if (!target || this.waiting[card.row]) return;
      if (target.verdict === verdict) return this.move(1); // decided so already
      this.send(card, { do: "say", row: card.row, key: target.key, verdict, seen: target.verdict });
      this.move(1);
    },
    withdraw(card) {
      for (const target of [card.accept, card.reject])
        if (target && target.verdict) return this.send(card, { do: "say", row: card.row, key: target.key, verdict: 0, seen: target.verdict });
      if (card.whole) this.send(card, { do: "whole", row: card.row, decision: card.whole === "Unsure" ? "unsure" : "none" });
    },
    send(card, what) {
      if (shared.online) this.waiting[card.row] = true;
      this.$emit("act", what);
    },
    whole(card, decision) {
      if (this.waiting[card.row]) return;
      this.send(card, { do: "whole", row: card.row, decision });
      if (!card.whole) this.move(1);
    },
    put(card, how) {
      this.putting = card;
      this.how = how;
    },
    picked(key) {
      this.$emit("act", { do: this.how, row: this.putting.row, key });
      this.left();
    },
    left() {
      this.putting = null;
      this.$nextTick(() => this.focus());
    },
    more(card) {
      this.open[card.row] = !this.open[card.row];
      if (card.cut && this.open[card.row]) this.$emit("act", { do: "read", row: card.row });
    },
    does(act, card) {
      const acts = {
        accept: () => this.say(card, 1),
        reject: () => this.say(card, -1),
        withdraw: () => this.withdraw(card),
        move: () => this.put(card, "move"),
        also: () => this.put(card, "also"),
        none: () => this.whole(card, "none"),
        unsure: () => this.whole(card, "unsure"),
        similar: () => this.similar && this.$emit("act", { do: "similar", row: card.row }),
        why: () => this.explain && this.$emit("act", { do: "why", row: card.row }),
        more: () => this.more(card),
      };
      acts[act]();
    },
    key(event) {
      const card = this.cards[this.at];
      const onCard = event.target.classList?.contains("card") || event.target.closest?.(".card footer");
      if (!card || !onCard || event.ctrlKey || event.metaKey || event.altKey || this.putting) return;
      const steps = { ArrowDown: 1, ArrowUp: -1, ...(shared.keys ? { j: 1, k: -1 } : {}) };
      const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      const acts = { a: "accept", r: "reject", x: "withdraw", m: "move", t: "also", n: "none", e: "unsure", s: "similar", w: "why", o: "more" };
      if (letter in steps) this.move(steps[letter]);
      else if (shared.keys && letter in acts) this.does(acts[letter], card);
      else if (shared.keys && letter === "c") this.$refs["card" + this.at][0].write();
      else if (shared.keys && letter === "u") this.$emit("act", { do: "undo" });
      else return;
      event.preventDefault();
    },
  },
};
