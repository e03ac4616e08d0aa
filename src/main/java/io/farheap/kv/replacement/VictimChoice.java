package io.farheap.kv.replacement;

import io.farheap.kv.policy.EvictionPolicy;
import io.farheap.kv.policy.ObjectMetadata;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * The choice of one object of those that were read together (Ditto, section 4.3): each expert names the one of lowest
 * priority, of equal ones that of the oldest last access; one of the named goes with the probability of the summed
 * weights of the experts that named it. Objects whose time is over go before all others. One thread.
 */
public final class VictimChoice {

    public static final int NONE = -1;

    private final EvictionPolicy[] experts;
    private final int[] firstWords;
    private final int words;
    private final int[] named;
    private final double[] lowest;
    private final long[] access;
    private int objects;
    private int dead;
    private long chosenBy;

    /**
     * A sample for these experts.
     *
     * @throws IllegalArgumentException where they keep more with an object than there is room for
     */
    public VictimChoice(List<EvictionPolicy> experts) {
        this.experts = experts.toArray(EvictionPolicy[]::new);
        firstWords = new int[this.experts.length];
        int next = 0;
        for (int expert = 0; expert < this.experts.length; expert++) {
            firstWords[expert] = next;
            next += this.experts[expert].extensionWords();
        }
        words = next;
        if (words > ObjectMetadata.EXTENSION_WORDS) {
            throw new IllegalArgumentException(
                    "the experts keep " + words + " words with each object; there is room for "
                            + ObjectMetadata.EXTENSION_WORDS + ": take fewer that keep any");
        }
        named = new int[this.experts.length];
        lowest = new double[this.experts.length];
        access = new long[this.experts.length];
        begin();
    }

    /** Forgets what was offered. */
    public void begin() {
        objects = 0;
        dead = NONE;
    }

    /**
     * Adds an object.
     *
     * @param slot what {@link #choose} is to call it, 0 or more
     * @param object not kept
     */
    public void offer(int slot, ObjectMetadata object) {
        if (object.expired()) {
            dead = slot;
        }
        for (int expert = 0; expert < experts.length; expert++) {
            object.firstWord(firstWords[expert]);
            double priority = experts[expert].priority(object);
            if (objects == 0
                    || priority < lowest[expert]
                    || priority == lowest[expert] && object.lastAccess() < access[expert]) {
                named[expert] = slot;
                lowest[expert] = priority;
                access[expert] = object.lastAccess();
            }
        }
        object.firstWord(0);
        objects++;
    }

    /** Words of the extension that the experts keep together, the first's first. */
    public int extensionWords() {
        return words;
    }

    /** An access: the experts change their words. */
    public void update(ObjectMetadata object) {
        for (int expert = 0; expert < experts.length; expert++) {
            object.firstWord(firstWords[expert]);
            experts[expert].update(object);
        }
        object.firstWord(0);
    }

    /** How many were offered since {@link #begin}. */
    public int objects() {
        return objects;
    }

    /** The slot of the one that goes; {@link #NONE} where none was offered. */
    public int choose(ExpertWeights weights, RandomGenerator random) {
        chosenBy = 0;
        if (objects == 0 || dead != NONE) {
            return dead;
        }
        int slot = named[weights.draw(random)];
        for (int expert = 0; expert < experts.length; expert++) {
            if (named[expert] == slot) {
                chosenBy |= 1L << expert;
            }
        }
        return slot;
    }

    /** The experts that named the one that was chosen last, a bit each; none where its time was over. */
    public long experts() {
        return chosenBy;
    }

    /** The one that was chosen last goes: the experts that named it hear of it. */
    public void evicted() {
        for (int expert = 0; expert < experts.length; expert++) {
            if ((chosenBy >>> expert & 1) != 0) {
                experts[expert].evicted(lowest[expert]);
            }
        }
    }
}
