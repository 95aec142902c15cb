// One document: text, decisions, place, other columns, memos, and why it is there.
import { helpers } from "/workbench/web/shared.js";

const CLIP = 90; // letters of another column on a closed card

export default {
  mixins: [helpers],
  props: {
    card: Object,
    here: Boolean, // the current card of the list
    open: Boolean,
    waiting: Boolean,
    query: String,
    words: Array, // words of the topic, marked in the text
    why: Object,
    explain: Boolean,
    similar: Boolean,
  },
  emits: ["here", "does", "memo", "forget"],
  data: () => ({ memo: null }),
  template: `
    <article :tabindex="here ? 0 : -1"
      :class="['card', { here, yes: accepted, no: rejected, waiting }]"
      :aria-label="'Document ' + card.id" @focus="$emit('here')" @click="$emit('here')">
      <header>
        <span class="id">{{ card.id }}</span>
        <span v-if="card.reason" class="reason">{{ shown(card.reason) }}</span>
        <span v-if="accepted" class="stamp yes">seed</span>
        <span v-if="rejected" class="stamp no">not this</span>
        <span v-if="card.whole" class="stamp whole">{{ card.whole.toLowerCase() }}</span>
      </header>
      <p :class="['text', { whole: open }]"><template v-for="part in parts"><mark v-if="part.hit">{{ part.text }}</mark><template v-else>{{ part.text }}</template></template></p>
      <p v-if="open && card.cut" class="soft">The rest is on its way …</p>
      <p v-if="columns.length" class="columns"><span v-for="[name, value] in columns"><b>{{ name }}</b> {{ clip(value) }}</span></p>
      <p v-for="seed in elsewhere" class="where">A seed of <b class="path"><span v-for="name in crumbs(seed.path)">{{ name }}</span></b></p>
      <p v-for="topic in notIn" class="where">Not in <b class="path"><span v-for="name in crumbs(topic.path)">{{ name }}</span></b></p>
      <p v-for="place in card.placed" class="where">Placed in <b class="path"><span v-for="name in crumbs(place.path)">{{ name }}</span></b>
        <span v-if="place.score !== null" class="score" :title="'Score ' + place.score"><i :style="{ width: 100 * place.score + '%' }"></i></span>
        <span v-if="place.score !== null" class="soft">{{ percent(place.score) }}</span>
        <span v-if="place.rival" class="soft">, then {{ shownPath(place.rival) }}</span></p>
      <p v-for="note in card.memos" :key="note.id" class="memo"><span>{{ note.text }}</span> <small class="soft">{{ note.coder || "memo" }}, {{ when(note.at) }}</small>
        <button class="bare" aria-label="Remove this memo" @click.stop="$emit('forget', note.id)">×</button></p>
      <footer v-if="here">
        <button v-if="card.accept && !accepted" class="small" :title="'Accept for ' + shown(card.accept.path)" @click.stop="$emit('does', 'accept')"><kbd>A</kbd>Accept<span class="target">{{ last(card.accept.path) }}</span></button>
        <button v-if="card.reject && !rejected" class="small" :title="'Not in ' + shown(card.reject.path)" @click.stop="$emit('does', 'reject')"><kbd>R</kbd>Reject<span v-if="card.accept && card.accept.key !== card.reject.key" class="target">{{ last(card.reject.path) }}</span></button>
        <button v-if="accepted || rejected" class="small on" @click.stop="$emit('does', 'withdraw')"><kbd>X</kbd>Withdraw</button>
        <button class="small" @click.stop="$emit('does', 'move')"><kbd>M</kbd>Other topic</button>
        <button class="small" @click.stop="$emit('does', 'also')"><kbd>T</kbd>Also in</button>
        <button class="small" :class="{ on: card.whole === 'None of these' }" @click.stop="$emit('does', 'none')"><kbd>N</kbd>None of these</button>
        <button class="small" :class="{ on: card.whole === 'Unsure' }" @click.stop="$emit('does', 'unsure')"><kbd>E</kbd>Unsure</button>
        <button v-if="similar" class="small" @click.stop="$emit('does', 'similar')"><kbd>S</kbd>Similar</button>
        <button v-if="explain" class="small" @click.stop="$emit('does', 'why')"><kbd>W</kbd>Why here</button>
        <button class="small" @click.stop="$emit('does', 'more')"><kbd>O</kbd>{{ open ? "Less" : "More" }}</button>
        <button class="small" @click.stop="write"><kbd>C</kbd>Memo</button>
      </footer>
      <form v-if="memo !== null" class="row" @submit.prevent="save" @click.stop>
        <label class="grow">Memo on {{ card.id }} <input ref="memo" v-model="memo" @keydown.stop @keydown.esc="leave"></label><button class="small">Save</button></form>
      <div v-if="why" class="why">
        <div v-if="why.ranked.topics.length > 1" class="ladder"><h4>Most probable topics<span v-if="why.ranked.belongs !== null" class="soft"> · {{ percent(why.ranked.belongs) }} that it belongs to any of them</span></h4>
          <div v-for="(topic, i) in why.ranked.topics" :class="['rung', { chosen: i === 0 }]"><span class="path"><span v-for="name in crumbs(topic.path)">{{ name }}</span></span>
            <span class="measure"><i :style="{ width: 100 * topic.chance + '%' }"></i></span><span class="soft">{{ percent(topic.chance) }}</span></div></div>
        <div v-for="level in why.levels" class="ladder">
          <h4>Level {{ level.level }}<span class="soft"><template v-if="level.score !== null"> · {{ percent(level.score) }} sure</template> · the longer the bar, the nearer</span></h4>
          <div v-for="topic in level.topics" :class="['rung', { chosen: topic.chosen }]">
            <span class="path"><span v-for="name in crumbs(topic.path)">{{ name }}</span></span>
            <span class="measure"><i :style="{ width: near(level, topic) }"></i></span><span class="soft" title="Distance">{{ topic.distance.toFixed(2) }}</span>
          </div>
        </div>
        <h4 v-if="why.seeds.length">Nearest seeds</h4>
        <blockquote v-for="seed in why.seeds"><b class="path"><span v-for="name in crumbs(seed.paths[0])">{{ name }}</span></b> <span class="soft">{{ percent(seed.nearness) }} alike</span><br>{{ seed.text }}</blockquote>
      </div>
    </article>`,
  computed: {
    accepted() {
      return this.card.accept?.verdict === 1;
    },
    rejected() {
      return this.card.reject?.verdict === -1 || this.card.accept?.verdict === -1;
    },
    columns() {
      return Object.entries(this.card.columns || {}).filter(([, value]) => value !== null && value !== "").slice(0, 8);
    },
    elsewhere() {
      return this.card.seed_of.filter((seed) => !this.accepted || seed.key !== this.card.accept.key);
    },
    notIn() {
      return this.card.not_in.filter((topic) => !this.card.reject || topic.key !== this.card.reject.key);
    },
    // The text cut into pieces, those that match marked; Vue escapes each of them.
    parts() {
      const typed = (this.query.match(/[\p{L}\p{N}_]+/gu) || []).filter((word) => word.length > 1);
      const words = typed.length ? typed : this.why ? this.words : [];
      if (!words.length) return [{ text: this.card.text }];
      const escaped = words.map((word) => word.replace(/[.*+?^$\{}()|[\]\\]/g, "\\$&")).join("|");
      const pattern = typed.length ? new RegExp("(" + escaped + ")", "giu") : new RegExp("(?<![\\p{L}\\p{N}])(" + escaped + ")(?![\\p{L}\\p{N}])", "giu");
      return this.card.text.split(pattern).map((text, i) => ({ text, hit: i % 2 === 1 }));
    },
  },
  methods: {
    // Long values of other columns are cut until the card is opened.
    clip(value) {
      const text = String(value);
      return this.open || text.length <= CLIP ? text : text.slice(0, CLIP) + "…";
    },
    near(level, topic) {
      const nearest = Math.min(...level.topics.map((other) => other.distance));
      return (100 * Math.max(nearest, 1e-9)) / Math.max(topic.distance, 1e-9) + "%";
    },
    write() {
      this.memo = "";
      this.$nextTick(() => this.$refs.memo.focus());
    },
    save() {
      if (this.memo.trim()) this.$emit("memo", this.memo);
      this.leave();
    },
    leave() {
      this.memo = null;
      this.$nextTick(() => this.$el.focus());
    },
  },
};
