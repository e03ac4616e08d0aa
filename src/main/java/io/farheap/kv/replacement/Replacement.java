package io.farheap.kv.replacement;

import io.farheap.kv.policy.AccessInformation;
import io.farheap.kv.policy.ObjectMetadata;
import java.util.Set;

/**
 * A session's replacement: which of an access's effects to write, which objects to evict, and what to learn from misses
 * of evicted objects. The session itself reads and writes the slots. One thread; nothing allocates.
 */
public interface Replacement {

    /** Returned by {@link #choose} if there is no further victim. */
    int NONE = -1;

    /** A bit of {@link #accessed}: write the time of the last access. */
    int WRITE_TIME = 1;
    /** Count the access, which may be delayed ({@link FrequencyCounterCache}). */
    int COUNT = 2;
    /** Count the access at once. */
    int COUNT_NOW = 4;
    /** Write the extension, which has changed. */
    int WRITE_EXTENSION = 8;

    /** The information that must be read of a slot or its object before {@link #accessed} and {@link #offer}. */
    Set<AccessInformation> needs();

    /** The number of words of {@link ObjectMetadata#extension} that are kept with each object. */
    int extensionWords();

    /**
     * Handles an access to a live object.
     *
     * @param object the object's slot as it was before the access
     * @return what to write, as bits of the constants above
     */
    int accessed(ObjectMetadata object);

    /**
     * Sets the times, the frequency and the extension of a new object.
     *
     * @param object with {@link ObjectMetadata#now}; if it returns, with the frequency that its history entry has
     * @param returned whether an unexpired history entry was found
     */
    void inserted(ObjectMetadata object, boolean returned);

    /**
     * Notes the greatest age of the objects in a bucket that was read anyway. A session that evicts nothing learns from
     * it how old objects become.
     */
    default void seen(long age) {}

    /** Begins a new sample of slots that were read together. */
    void begin();

    /**
     * Adds a live object to the sample.
     *
     * @param slot a number of 0 or more, which {@link #choose} returns for it
     * @param object not kept
     */
    void offer(int slot, ObjectMetadata object);

    /**
     * Adds a history entry to the sample. An expired one is ignored.
     *
     * @param counter the history's counter, as last known
     * @param entry the entry's number
     * @param experts the experts that the entry names
     */
    void offerHistory(long counter, long entry, long experts);

    /**
     * Chooses the next object of the sample to evict.
     *
     * @return its slot; {@link #NONE} if the sample gives no further victim
     */
    int choose();

    /** The experts that named the object chosen last, which are written into its history entry. */
    long experts();

    /**
     * Notes a miss of an object that has a history entry.
     *
     * @return whether the entry has not expired
     */
    boolean missed(long counter, long entry, long experts);

    /** The number of 8-byte words of a message to the {@link SharedWeights}, and of its answer. */
    int words();

    /**
     * Whether a message with what was learned should be sent. A new session sends one at the beginning, and so receives
     * what other sessions have learned.
     */
    boolean due();

    /**
     * Writes what was learned since the last message into a new one. No other may be sent before its answer or
     * {@link #lost}.
     *
     * @param words at least {@link #words} of them
     */
    void send(long[] words);

    /**
     * Takes the controller's answer.
     *
     * @throws IllegalArgumentException if it is not valid; what the session itself has learned then stays
     */
    void answered(long[] words);

    /** This session's trust in an expert, 0 to 1. */
    double weight(int expert);

    /** Notes that no answer will arrive. The message may have been applied or not, and is not sent again. */
    void lost();
}
