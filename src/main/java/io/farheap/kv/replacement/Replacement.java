package io.farheap.kv.replacement;

import io.farheap.kv.policy.AccessInformation;
import io.farheap.kv.policy.ObjectMetadata;
import java.util.Set;

/**
 * What a session asks about who stays in its map. The session reads and writes slots; this says what of an access is to
 * be written, who goes, and learns from misses of what went. One thread; nothing allocates.
 */
public interface Replacement {

    /** No slot. */
    int NONE = -1;

    /** Of {@link #accessed}: the time of the last access is to be written. */
    int WRITE_TIME = 1;
    /** The access is to be counted, which may wait ({@link FrequencyCounterCache}). */
    int COUNT = 2;
    /** The access is to be counted at once. */
    int COUNT_NOW = 4;
    /** The extension has changed and is to be written. */
    int WRITE_EXTENSION = 8;

    /** What has to be read of a slot or its object before {@link #accessed} and {@link #offer}. */
    Set<AccessInformation> needs();

    /** Words of {@link ObjectMetadata#extension} that are kept with each object. */
    int extensionWords();

    /**
     * An access to a live object, as its slot was before it.
     *
     * @return what is to be written, of the bits above
     */
    int accessed(ObjectMetadata object);

    /**
     * A new object: sets its times, its frequency and its extension.
     *
     * @param object with {@link ObjectMetadata#now}; where it returns, with the frequency that its history entry has
     * @param returned whether a history entry was found that has not expired
     */
    void inserted(ObjectMetadata object, boolean returned);

    /**
     * The greatest age of the objects of a bucket that was read on the way. A session that evicts nothing learns from
     * it how old objects become.
     */
    default void seen(long age) {}

    /** Begins a new sample of slots that were read together. */
    void begin();

    /**
     * Adds a live object to the sample.
     *
     * @param slot what {@link #choose} is to call it, 0 or more
     * @param object not kept
     */
    void offer(int slot, ObjectMetadata object);

    /**
     * Adds a history entry to the sample. An expired one counts for nothing.
     *
     * @param counter the history's, as far as it is known
     * @param entry its number
     * @param experts what was written into it
     */
    void offerHistory(long counter, long entry, long experts);

    /**
     * The next object of the sample that is to go.
     *
     * @return its slot; {@link #NONE} where the sample is to give no more
     */
    int choose();

    /** What is to be written into the history entry of the one that was chosen last: the experts that named it. */
    long experts();

    /**
     * A miss of an object that has a history entry.
     *
     * @return whether the entry has not expired
     */
    boolean missed(long counter, long entry, long experts);

    /** Words of 8 bytes of a message to the {@link SharedWeights}, and of its answer. */
    int words();

    /**
     * Whether what was learned is to be sent. A new session sends once at the beginning, and so hears of the others.
     */
    boolean due();

    /**
     * Writes what was learned since into a message. Until its answer or {@link #lost} there is no other.
     *
     * @param words at least {@link #words} of them
     */
    void send(long[] words);

    /**
     * The controller has answered.
     *
     * @throws IllegalArgumentException where it says nonsense; what the session has learned itself then stays
     */
    void answered(long[] words);

    /** How much this session trusts an expert, 0 to 1. */
    double weight(int expert);

    /** There will be no answer. What was sent may count or not, and is not sent again. */
    void lost();
}
