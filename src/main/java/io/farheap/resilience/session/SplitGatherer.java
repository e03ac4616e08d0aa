package io.farheap.resilience.session;

import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.table.ServerErrorCounts;
import io.farheap.resilience.table.Slab;
import io.farheap.resilience.table.StripeWords;

/**
 * Reads splits of a page until enough are there (Hydra, section 4.1.2). It asks k + Δ random slabs at first, and the
 * rest if one is late or fails; it has enough with the splits that the operation wants, or with any k. In the
 * corruption modes k + Δ must be there, and more if they disagree. If a suspect server is among those asked, it asks k
 * + 2Δ + 1 slabs at first (not in EC-only, which promises nothing), and waits for as many as before.
 */
final class SplitGatherer {

    /** Splits are to come. */
    static final int WAITS = 0;
    /** Enough are there. */
    static final int READY = 1;
    /** Too few servers are connected: the operation begins again later. */
    static final int STARVED = 2;
    /** Fewer than k slabs are good. */
    static final int LOST = 3;
    /** Splits disagree, and it cannot be told which are wrong. */
    static final int CORRUPT = 4;

    /**
     * A power of two less one: this many reads of parts consider only the servers of the splits that they want, and the
     * next read considers all.
     */
    private static final int PARTS_ALONE = 63;

    private final CodedSessionContext parts;
    private final Resilience resilience;
    private final int k;
    /** Whether a suspect server makes reads ask more. */
    private final boolean doubts;
    /** The connections of the latest {@link #survey}, by split. */
    private final CodedConnection[] seen;
    /** The splits of the latest survey whose servers are connected. */
    private int usable;
    /** The usable ones whose servers have no late split of this session. */
    private int punctual;
    /** Of the usable ones, those whose servers are suspect. */
    private int suspect;

    SplitGatherer(CodedSessionContext parts) {
        this.parts = parts;
        this.resilience = parts.resilience;
        this.k = resilience.dataSplits();
        this.doubts = resilience.mode() != Resilience.Mode.EC_ONLY;
        this.seen = new CodedConnection[resilience.splits()];
    }

    /**
     * Asks the first splits of an operation that has a slot.
     *
     * @param word the stripe word as it was before: splits that a write owes are not asked
     */
    int begin(PageOp op, PageBuffer slot, long word) {
        int range = op.range;
        int good = parts.space.table.good(range);
        if (Integer.bitCount(good) < k) {
            return LOST;
        }
        int mayBeAsked = good & ~StripeWords.owed(word);
        // A part of a page nearly always needs one split, or a few. The other servers are considered now and then,
        // which connects to them.
        boolean part = isPart(op) && (parts.counts.reads & PARTS_ALONE) != 0;
        survey(range, part ? op.want & mayBeAsked : mayBeAsked);
        if (part && (punctual != op.want || doubts && suspect != 0)) {
            survey(range, mayBeAsked);
        }
        op.asked = 0;
        op.have = 0;
        op.hedged = false;
        op.disagreed = false;
        op.target = resilience.checksReads() ? checked(range, good) : k;
        int first = first(op);
        if (first == 0) {
            return STARVED;
        }
        long delay = ask(op, slot, first);
        // Not before: reading the clock takes as long as a post.
        op.started = System.nanoTime();
        op.hedgeAt = op.started + delay;
        return look(op, slot);
    }

    private boolean isPart(PageOp op) {
        return !resilience.checksReads() && Integer.bitCount(op.want) < k;
    }

    /** Looks at the servers of some of a range's slabs. */
    private void survey(int range, int splits) {
        int connected = 0;
        int owing = 0;
        int doubtful = 0;
        for (int left = splits; left != 0; left &= left - 1) {
            int split = Integer.numberOfTrailingZeros(left);
            int bit = 1 << split;
            CodedConnection line = lineOf(range, split);
            seen[split] = line;
            if (line.connected) {
                connected |= bit;
                owing |= line.late == 0 ? 0 : bit;
                doubtful |= line.record.suspect ? bit : 0;
            }
        }
        usable = connected;
        punctual = connected & ~owing;
        suspect = doubtful;
    }

    /** How many splits a read of the corruption modes waits for: k + Δ, or those that may come. */
    private int checked(int range, int good) {
        int mayCome = 0;
        for (int left = good; left != 0; left &= left - 1) {
            CodedConnection line = lineOf(range, Integer.numberOfTrailingZeros(left));
            if (line.mayCome(parts.clock(), resilience.timeoutNanos())) {
                mayCome++;
            }
        }
        return Math.clamp(mayCome, k, resilience.readAsks());
    }

    private CodedConnection lineOf(int range, int split) {
        return parts.lines.of(parts.space.table.slab(range, split).region().server());
    }

    /** Which splits to ask at first; 0 if too few can be asked. */
    private int first(PageOp op) {
        boolean part = Integer.bitCount(op.want) < k;
        int first;
        if (resilience.checksReads()) {
            if (Integer.bitCount(usable) < op.target) {
                return 0;
            }
            first = fill(part ? op.want & punctual : 0, op.target);
        } else if (part && (op.want & ~punctual) == 0) {
            first = op.want;
        } else if (Integer.bitCount(usable) < k) {
            first = (op.want & ~usable) == 0 ? op.want : 0;
        } else {
            first = fill(0, resilience.readAsks());
        }
        return doubts && (first & suspect) != 0 ? doubted(first) : first;
    }

    /** Adds splits as a suspect server is to be asked: k + 2Δ + 1 in all, as far as punctual servers have them. */
    private int doubted(int first) {
        int count = k + 2 * resilience.additional() + 1;
        return first | parts.choose(punctual & ~first, Math.max(0, count - Integer.bitCount(first)));
    }

    /** Extends {@code first} to {@code count} splits at random; those of servers with late splits come last. */
    private int fill(int first, int count) {
        int chosen = first | parts.choose(punctual & ~first, Math.max(0, count - Integer.bitCount(first)));
        return chosen | parts.choose(usable & ~chosen, Math.max(0, count - Integer.bitCount(chosen)));
    }

    /**
     * Asks the slabs that are still good: since the survey another slab may have taken the place of one, which is
     * written and must not be read.
     *
     * @return after how many ns a split is late
     */
    private long ask(PageOp op, PageBuffer slot, int splits) {
        long delay = 0;
        for (int left = splits; left != 0; left &= left - 1) {
            int split = Integer.numberOfTrailingZeros(left);
            Slab slab = parts.space.table.slab(op.range, split);
            if (!slab.isGood()) {
                continue;
            }
            slot.slabs[split] = slab;
            if (parts.post(op, slot, split, false)) {
                op.asked |= 1 << split;
                RemoteServer server = slab.region().server();
                CodedConnection line = seen[split].server == server ? seen[split] : parts.lines.of(server);
                line.countAsked();
                delay = Math.max(delay, line.hedgeDelay());
            }
        }
        return delay;
    }

    /** A split has come, or has failed. */
    int arrived(PageOp op, PageBuffer slot, int split, boolean done) {
        int bit = 1 << split;
        // A slab that is void by now may have missed a write that this read must see.
        if (done && !slot.slabs[split].isVoid()) {
            op.have |= bit;
            if ((parts.counts.reads & 7) == 0 && !op.hedged) {
                parts.lines.of(slot.slabs[split].region().server()).learn(System.nanoTime() - op.started);
            }
        }
        return look(op, slot);
    }

    /** Whether enough splits are there; asks more if too few can still come. */
    int look(PageOp op, PageBuffer slot) {
        boolean wanted = !resilience.checksReads() && (op.have & op.want) == op.want;
        if (wanted || Integer.bitCount(op.have) >= op.target) {
            return READY;
        }
        int coming = slot.outstanding | slot.unposted;
        int possible = op.have | coming;
        if (!resilience.checksReads() && (possible & op.want) == op.want) {
            return WAITS;
        }
        int missing = op.target - Integer.bitCount(possible);
        if (missing <= 0 || askMore(op, slot, missing)) {
            return WAITS;
        }
        if (coming != 0) {
            return WAITS;
        }
        if (op.disagreed && Integer.bitCount(op.have) >= k) {
            // There are no more than these to judge by.
            return READY;
        }
        return Integer.bitCount(parts.space.table.good(op.range)) < k ? LOST : STARVED;
    }

    /** @return whether some were asked */
    private boolean askMore(PageOp op, PageBuffer slot, int count) {
        int good = parts.space.table.good(op.range) & ~StripeWords.owed(op.word);
        survey(op.range, good & ~op.asked & ~slot.outstanding);
        int before = op.asked;
        ask(op, slot, fill(0, count));
        return op.asked != before;
    }

    /** The hedge: splits are late, so the remaining slabs are asked. */
    void hedge(PageOp op, PageBuffer slot) {
        op.hedged = true;
        parts.recordLate(slot, slot.outstanding);
        parts.countLate(slot, slot.outstanding);
        if (askMore(op, slot, resilience.splits())) {
            parts.counts.hedged++;
        }
    }

    /** Posts reads again that were refused because the queue was full. */
    void retry(PageOp op, PageBuffer slot) {
        for (int left = slot.unposted; left != 0; left &= left - 1) {
            parts.post(op, slot, Integer.numberOfTrailingZeros(left), false);
        }
    }

    /**
     * In the corruption modes: whether the splits that are there belong to one page. If few are wrong and it is clear
     * which, takes them out and counts them as errors of their servers; if it is not clear, asks more.
     *
     * @return {@link #READY}, {@link #WAITS} or {@link #CORRUPT}
     */
    int agree(PageOp op, PageBuffer slot) {
        if (!resilience.checksReads()) {
            return READY;
        }
        parts.aim(slot, op);
        if (parts.coder.agree(parts.addresses, op.columnBytes, op.have)) {
            return READY;
        }
        parts.counts.disagreed++;
        op.disagreed = true;
        int count = Integer.bitCount(op.have);
        int delta = resilience.additional();
        // At most so many are sought that, if Δ splits are wrong in truth, leaving out other splits would not make the
        // rest agree.
        int most = Math.min((count - k) / 2, count - k - delta);
        if (most >= 1) {
            int wrong = parts.coder.wrong(parts.addresses, op.columnBytes, op.have, most);
            if (wrong >= 0) {
                blame(slot, wrong, true);
                op.have &= ~wrong;
                return READY;
            }
        }
        op.target = Math.min(resilience.splits(), Math.max(count, k + delta) + delta + 1);
        if ((slot.outstanding | slot.unposted) != 0 || askMore(op, slot, op.target - count)) {
            return WAITS;
        }
        blame(slot, op.have, false);
        return CORRUPT;
    }

    /**
     * Counts splits as wrong or doubted at their servers.
     *
     * @param known whether they are all known to be wrong; if not, one or more of them are
     */
    private void blame(PageBuffer slot, int splits, boolean known) {
        for (int left = splits; left != 0; left &= left - 1) {
            int split = Integer.numberOfTrailingZeros(left);
            ServerErrorCounts record = parts.lines.of(slot.slabs[split].region().server()).record;
            (known ? record.wrong : record.doubted).increment();
        }
    }
}
