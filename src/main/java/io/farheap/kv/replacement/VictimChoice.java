package io.farheap.kv.replacement;

import io.farheap.kv.policy.EvictionPolicy;
import io.farheap.kv.policy.ObjectMetadata;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * The choice of one victim among objects that were read together (Ditto, section 4.3): each expert names the object
 * with the lowest priority, of equal ones that with the oldest last access; each named object is evicted with a
 * probability that is the sum of the weights of the experts that named it. Expired objects are chosen before all
 * others. One thread.
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
     * Makes a sample for these experts.
     *
     * @throws IllegalArgumentException if they keep more words with an object than there is room for
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

    /** Begins a new sample. */
    public void begin() {
        objects = 0;
        dead = NONE;
    }

    /**
     * Adds an object to the sample.
     *
     * @param slot a number of 0 or more, which {@link #choose} returns for it
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

    /** The number of extension words that the experts keep together; the first expert's come first. */
    public int extensionWords() {
        return words;
    }

    /** Updates the experts' words at an access. */
    public void update(ObjectMetadata object) {
        for (int expert = 0; expert < experts.length; expert++) {
            object.firstWord(firstWords[expert]);
            experts[expert].update(object);
        }
        object.firstWord(0);
    }

    /** How many objects were offered since {@link #begin}. */
    public int objects() {
        return objects;
    }

    /** The slot of the victim; {@link #NONE} if no object was offered. */
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

    /** The experts that named the victim chosen last, as a bitmap; 0 if it had expired. */
    public long experts() {
        return chosenBy;
    }

    /** Tells the experts that named the victim chosen last that it is evicted. */
    public void evicted() {
        for (int expert = 0; expert < experts.length; expert++) {
            if ((chosenBy >>> expert & 1) != 0) {
                experts[expert].evicted(lowest[expert]);
            }
        }
    }
}
