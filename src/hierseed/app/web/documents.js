// A list of documents that one hand can work through: arrows move, one key decides.
import picker from "/workbench/web/picker.js";
import { crumbs, number, percent, typing } from "/workbench/web/shared.js";

export default {
  components: { picker },
  props: {
    cards: Array,
    page: Number,
    pages: Number,
    total: Number,
    query: { type: String, default: "" },
    why: Object,
    explain: Boolean, // offer "why here"
    similar: Boolean, // offer "similar"
  },
  emits: ["act"],
  data: () => ({ at: 0, open: {}, waiting: {}, putting: null }),
  template: `
    <section class="documents" aria-label="Documents">
      <div role="list">
        <article v-for="(card, i) in cards" :key="card.row" role="listitem" :ref="'card' + i" :tabindex="i === at ? 0 : -1"
          :class="['card', { here: i === at, yes: card.verdict === 1, no: card.verdict === -1, waiting: waiting[card.row] }]"
          :aria-label="'Document ' + card.id" @focus="at = i" @click="at = i">
          <header>
            <span class="id">{{ card.id }}</span>
            <span v-if="card.reason" class="reason">{{ card.reason }}</span>
            <span v-if="card.verdict === 1" class="stamp yes">seed</span>
            <span v-if="card.verdict === -1" class="stamp no">not this</span>
          </header>
          <p :class="['text', { whole: open[card.row] }]"><template v-for="part in parts(card)"><mark v-if="part.hit">{{ part.text }}</mark><template v-else>{{ part.text }}</template></template></p>
          <p v-if="open[card.row] && card.cut" class="soft">The rest of this long text is not shown.</p>
          <p v-for="seed in elsewhere(card)" class="where">A seed of <b class="path"><span v-for="name in crumbs(seed.path)">{{ name }}</span></b></p>
          <p v-for="place in card.placed" class="where">Placed in <b class="path"><span v-for="name in crumbs(place.path)">{{ name }}</span></b>
            <span v-if="place.score !== null" class="score" :title="'Score ' + place.score"><i :style="{ width: 100 * place.score + '%' }"></i></span>
            <span v-if="place.score !== null" class="soft">{{ percent(place.score) }}</span>
            <span v-if="place.rival" class="soft">, then {{ place.rival }}</span></p>
          <footer v-if="i === at">
            <button v-if="card.about" class="small" :class="{ on: card.verdict === 1 }" @click.stop="say(card, 1)"><kbd>A</kbd>{{ card.verdict === 1 ? "Withdraw" : "Accept" }}</button>
            <button v-if="card.about" class="small" :class="{ on: card.verdict === -1 }" @click.stop="say(card, -1)"><kbd>R</kbd>{{ card.verdict === -1 ? "Withdraw" : "Reject" }}</button>
            <button class="small" @click.stop="put(card)"><kbd>M</kbd>Other topic</button>
            <button v-if="similar" class="small" @click.stop="$emit('act', { do: 'similar', row: card.row })"><kbd>S</kbd>Similar</button>
            <button v-if="explain" class="small" @click.stop="ask(card)"><kbd>W</kbd>Why here</button>
            <button class="small" @click.stop="turn(card)"><kbd>O</kbd>{{ open[card.row] ? "Less" : "More" }}</button>
          </footer>
          <div v-if="why && why.row === card.row" class="why">
            <div v-for="level in why.levels" class="ladder">
              <h4>Level {{ level.level }}<span class="soft"><template v-if="level.score !== null"> · {{ percent(level.score) }} sure</template> · how far it is from each topic</span></h4>
              <div v-for="topic in level.topics" :class="['rung', { chosen: topic.chosen }]">
                <span class="path"><span v-for="name in crumbs(topic.path)">{{ name }}</span></span>
                <span class="measure"><i :style="{ width: reach(level, topic) }"></i></span><span class="soft">{{ topic.distance.toFixed(2) }}</span>
              </div>
            </div>
            <h4 v-if="why.seeds.length">Nearest seeds</h4>
            <blockquote v-for="seed in why.seeds"><b class="path"><span v-for="name in crumbs(seed.paths[0])">{{ name }}</span></b> <span class="soft">{{ percent(seed.nearness) }} alike</span><br>{{ seed.text }}</blockquote>
          </div>
        </article>
      </div>
      <nav v-if="pages > 1" class="pager" aria-label="Pages">
        <button class="small" :disabled="page === 0" @click="turnTo(page - 1)">← Before</button>
        <span class="soft">{{ number(page + 1) }} of {{ number(pages) }}</span>
        <button class="small" :disabled="page + 1 >= pages" @click="turnTo(page + 1)">Next →</button>
      </nav>
      <picker v-if="putting" title="Which topic is it?" @picked="picked" @left="left"></picker>
    </section>`,
  watch: {
    cards(now, before) {
      this.waiting = {};
      const same = now.length === before.length && now.every((card, i) => card.row === before[i].row);
      if (!same) {
        const inside = this.$el?.contains?.(document.activeElement);
        this.at = 0;
        if (inside) this.$nextTick(() => this.focus());
      }
    },
  },
  created() {
    addEventListener("keydown", this.key); // of the page: one card is current wherever the focus is
  },
  unmounted() {
    removeEventListener("keydown", this.key);
  },
  methods: {
    crumbs,
    number,
    percent,
    elsewhere(card) {
      return card.seed_of.filter((seed) => seed.key !== card.about || card.verdict !== 1);
    },
    // The text cut into pieces, those that match the search marked; Vue escapes each of them.
    parts(card) {
      const words = (this.query.match(/[\p{L}\p{N}_]+/gu) || []).filter((word) => word.length > 1);
      if (!words.length) return [{ text: card.text }];
      const pattern = new RegExp("(" + words.map((w) => w.replace(/[.*+?^$\{}()|[\]\\]/g, "\\$&")).join("|") + ")", "giu");
      return card.text.split(pattern).map((text, i) => ({ text, hit: i % 2 === 1 }));
    },
    reach(level, topic) {
      const furthest = Math.max(...level.topics.map((other) => other.distance));
      return (100 * topic.distance) / furthest + "%";
    },
    focus() {
      const card = this.$refs["card" + this.at];
      (Array.isArray(card) ? card[0] : card)?.focus();
    },
    move(step) {
      const next = this.at + step;
      if (next >= this.cards.length && this.page + 1 < this.pages) return this.turnTo(this.page + 1);
      if (next < 0 && this.page > 0) return this.turnTo(this.page - 1);
      this.at = Math.min(Math.max(next, 0), this.cards.length - 1);
      this.$nextTick(() => this.focus());
    },
    turnTo(page) {
      this.$emit("act", { do: "page", page });
    },
    turn(card) {
      this.open[card.row] = !this.open[card.row];
    },
    // The mark appears when the server has it on disk; only the cursor moves on at once.
    say(card, verdict) {
      if (!card.about) return;
      const wanted = card.verdict === verdict ? 0 : verdict;
      this.waiting[card.row] = true;
      this.$emit("act", { do: "say", row: card.row, key: card.about, verdict: wanted, seen: card.verdict });
      if (wanted && this.at + 1 < this.cards.length) this.move(1);
    },
    ask(card) {
      this.$emit("act", { do: "why", row: card.row });
    },
    put(card) {
      this.putting = card;
    },
    picked(key) {
      this.$emit("act", { do: "put", row: this.putting.row, key });
      this.left();
    },
    left() {
      this.putting = null;
      this.$nextTick(() => this.focus());
    },
    key(event) {
      if (typing(event) || event.ctrlKey || event.metaKey || event.altKey || this.putting) return;
      const card = this.cards[this.at];
      const elsewhere = event.target !== document.body && !this.$el.contains(event.target);
      if (!card || (elsewhere && event.key.startsWith("Arrow"))) return; // there they scroll
      const acts = {
        ArrowDown: () => this.move(1),
        j: () => this.move(1),
        ArrowUp: () => this.move(-1),
        k: () => this.move(-1),
        a: () => this.say(card, 1),
        r: () => this.say(card, -1),
        m: () => this.put(card),
        s: () => this.similar && this.$emit("act", { do: "similar", row: card.row }),
        w: () => this.explain && this.ask(card),
        o: () => this.turn(card),
        u: () => this.$emit("act", { do: "take_back" }),
      };
      const act = acts[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    },
  },
};
