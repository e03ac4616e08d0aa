package io.farheap.kv.policy;

import java.util.Set;

/**
 * A caching algorithm as a function from the information about an object to the worth of keeping it (Ditto, section
 * 4.2). Of several objects the one with the lowest priority is evicted. An instance belongs to one session and one
 * thread; all state that it shares with other sessions is in the objects.
 */
public interface EvictionPolicy {

    /** The object's priority: the lower, the sooner it is evicted. Changes nothing. */
    double priority(ObjectMetadata object);

    /** The information that {@link #priority} and {@link #update} read. */
    Set<AccessInformation> needs();

    /** How many words of {@link ObjectMetadata#extension} the policy keeps with each object. */
    default int extensionWords() {
        return 0;
    }

    /**
     * Updates the object's extension at an access, or at its insertion. All information except
     * {@link ObjectMetadata#now} is that before the access; at an insertion the frequency and the extension are 0.
     */
    default void update(ObjectMetadata object) {}

    /**
     * Called when an object is evicted that this policy named. Policies that age objects advance their age by it.
     *
     * @param priority the priority that the object had
     */
    default void evicted(double priority) {}
}
